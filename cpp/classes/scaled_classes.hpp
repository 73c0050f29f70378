// W = a V as in scaled_vector.hpp, a matrix with a column for each class.
#pragma once

#include "classes/class_matrix.hpp"
#include "linear/scaled_vector.hpp"

namespace pegasos {

class ScaledClasses : public Scaled<ClassMatrix<double>> {
public:
    ScaledClasses(std::size_t n_rows, std::size_t n_classes, bool tracked, bool sums)
        : Scaled({n_rows, n_classes}, {sums ? n_rows : 0, n_classes}, tracked), f_(v_.stride()) {}

    void assign(const std::vector<double>& flat) {
        v_.assign(flat);
        restart();
    }

    template <class Rows>
    void scores(const Rows& rows, std::size_t i, double* f) const {
        v_.scores(rows, i, f);
        for (std::size_t k = 0; k < v_.stride(); ++k) f[k] *= a_;
    }

    /// W <- W + c x_i' d
    template <class Rows>
    void add(const Rows& rows, std::size_t i, double c, const double* d) {
        double along = 0, square = 0;
        if (tracked_) {
            scores(rows, i, f_.data());
            for (std::size_t k = 0; k < v_.stride(); ++k) {
                along += f_[k] * d[k];
                square += d[k] * d[k];
            }
        }
        v_.add_nonzero(rows, i, c / a_, d);
        if (!u_.values().empty()) u_.add_nonzero(rows, i, -sum_of_scales_ * c / a_, d);
        if (tracked_) track(2 * c * along, c * c * square * rows.squared_norm(i));
    }

private:
    AlignedVector<double> f_;
};

}  // namespace pegasos
