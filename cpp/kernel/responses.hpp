// Responses of all examples to a vector of coefficients, g_i = sum_j c_j K(x_i, x_j), kept while single
// coefficients change.
//
// A change moves all n responses, which is a pass over memory. The next few visits need only their own, so
// the changes of a stretch of visits are held back: a response is then corrected by the held entries of the
// kernel rows, and all are brought up to date at once, several rows at a time. Rows that a stretch is likely
// to need are fetched together, as blocks of the kernel matrix cost far less than its rows one by one.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "kernel/gram.hpp"

namespace pegasos {

template <class Real>
class Responses {
public:
    static constexpr std::size_t stretch = 32;  // visits, so that their rows stay in the smallest cache

    explicit Responses(Gram<Real>& gram) : c(gram.size()), gram_(gram), g_(gram.size()) {}

    std::vector<double> c;

    double operator[](std::size_t i) const {
        double sum = g_[i];
        for (std::size_t k = 0; k < held_.size(); ++k) sum += steps_[k] * static_cast<double>(kernels_[k][i]);
        return sum;
    }

    /// Fetches rows that will be needed soon, at most `stretch` of them.
    void expect(std::span<const RowNumber> rows) {
        const Real* found[stretch];
        if (!rows.empty()) gram_.rows(rows, std::span<const Real*>(found).first(rows.size()));
    }

    void add(RowNumber i, double step) {
        if (held_.size() == stretch) flush();
        c[i] += step;
        kernels_.push_back(gram_.row(i));
        held_.push_back(i);
        steps_.push_back(step);
    }

    /// All responses, up to date.
    const std::vector<double>& all() {
        flush();
        return g_;
    }

    /// Multiplies all.
    void scale(double factor) {
        flush();
        for (double& own : c) own *= factor;
        for (double& own : g_) own *= factor;
    }

    /// Adds a multiple of another one.
    void add(Responses& other, double factor) {
        flush();
        other.flush();
        for (std::size_t i = 0; i < c.size(); ++i) c[i] += factor * other.c[i];
        for (std::size_t i = 0; i < g_.size(); ++i) g_[i] += factor * other.g_[i];
    }

    void reset() {
        held_.clear();
        steps_.clear();
        kernels_.clear();
        std::fill(c.begin(), c.end(), 0.0);
        std::fill(g_.begin(), g_.end(), 0.0);
    }

    /// Starts from other coefficients.
    void assign(const std::vector<double>& coefficients) {
        reset();
        std::vector<RowNumber> which;
        std::vector<double> steps;
        for (std::size_t i = 0; i < coefficients.size(); ++i) {
            if (coefficients[i] == 0) continue;
            which.push_back(static_cast<RowNumber>(i));
            steps.push_back(coefficients[i]);
            c[i] = coefficients[i];
        }
        gram_.add(which, steps, g_);
    }

    /// Before that of the rows that are kept, which may not be moved then.
    void state(State& state) {
        state(c, g_, held_, steps_);
        if (!state.reads()) return;
        if (c.size() != gram_.size() || g_.size() != c.size() || held_.size() > stretch ||
            steps_.size() != held_.size())
            State::refuse();
        kernels_.clear();
        for (const RowNumber i : held_) {
            if (i >= c.size()) State::refuse();
            kernels_.push_back(gram_.row(i));
        }
    }

private:
    void flush() {
        if (held_.empty()) return;
        gram_.add_found(kernels_, steps_, g_);
        held_.clear();
        steps_.clear();
        kernels_.clear();
    }

    Gram<Real>& gram_;
    std::vector<double> g_;
    std::vector<RowNumber> held_;
    std::vector<double> steps_;
    std::vector<const Real*> kernels_;
};

}  // namespace pegasos
