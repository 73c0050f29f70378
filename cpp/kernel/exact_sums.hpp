// Responses of some examples, sum_j c_j K(x_j, x_i), in double precision or better, with a bound on their
// error: what the certificate of a kernel machine rests on.
//
// A fit works with a kernel matrix in whatever precision is fast. Its certificate needs the responses of the
// support vectors and of the examples that have a loss, or may have one, and of no others: those are computed
// anew here, from the examples as they were given, at the end. Of the square of the support vectors each
// value is computed once for both it belongs to.
//
// Where double precision is not enough: the Gaussian kernel takes squared differences in place of products,
// the linear and the polynomial one products and sums in twice the precision.
#pragma once

#include <cmath>
#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "base/monitor.hpp"
#include "base/threads.hpp"
#include "kernel/kernel.hpp"
#include "kernel/points.hpp"

namespace pegasos {

/// How far a sum is off: at most `absolute`, and this share of itself.
struct SumError {
    double absolute = 0, relative = 0;

    double of(double sum) const { return absolute + relative * std::abs(sum); }
};

class ExactSums {
public:
    virtual ~ExactSums() = default;
    /// sums[k] = sum_j coef[j] K(all[j], all[k]); the coefficients are those of the first examples.
    virtual SumError compute(std::span<const RowNumber> all, std::span<const double> coef, double* sums,
                             Team& team, Monitor& monitor) = 0;
};

/// Of examples in the precision they were given in, less a shift where one is given. `compensated`: in twice
/// the precision; of linear and polynomial kernels.
template <class Given>
std::unique_ptr<ExactSums> sums_of_points(const Points<Given>& points, const Kernel& kernel,
                                          std::vector<double> shift, bool compensated);

/// Of a matrix of n rows that is there, whose numbers are the kernel.
template <class Given>
std::unique_ptr<ExactSums> sums_of_matrix(const Given* values, std::size_t n);

}  // namespace pegasos
