#include "base/certificate.hpp"

namespace pegasos {

Bound DualPoint::value() const {
    const double square = squared_norm(u), norm = std::sqrt(square);
    double below = linear_error + error * (1.01 * norm + error) +
                   (16 * unit + sum_error(u.size())) * (std::abs(linear) + square / 2);
    if (linear != 0 || square > 0) below += least * static_cast<double>(u.size() + 16);  // lost to underflow
    return {linear - square / 2 - below, below};
}

void DualPoint::rescale() {
    const double square = squared_norm(u);
    const double c = square > linear ? std::max(linear / square, 0.0) : 1;
    if (c < 1) multiply(c, square);
}

void DualPoint::join(const DualPoint& other) {
    double along = 0, square = 0;  // of the derivative at share = 0, and the curvature
    double mine = 0, theirs = 0;
    for (std::size_t j = 0; j < u.size(); ++j) {
        const double d = other.u[j] - u[j];
        along += u[j] * d;
        square += d * d;
        mine += u[j] * u[j];
        theirs += other.u[j] * other.u[j];
    }
    const double rise = other.linear - linear - along;
    if (!(rise > 0)) return;
    const double share = square > rise ? rise / square : 1;
    multiply(1 - share, mine);
    linear += share * other.linear;
    linear_error += share * other.linear_error + 4 * unit * (std::abs(linear) + std::abs(other.linear));
    error += share * other.error + 4 * unit * (std::sqrt(mine) + std::sqrt(theirs));
    for (std::size_t j = 0; j < u.size(); ++j) u[j] += share * other.u[j];
    for (std::size_t i = 0; i < q.size(); ++i) q[i] += share * other.q[i];
}

void DualPoint::multiply(double c, double square) {
    linear_error = c * linear_error + 2 * unit * std::abs(linear);
    error = c * error + 2 * unit * std::sqrt(square);
    linear *= c;
    for (double& x : u) x *= c;
    for (double& x : q) x *= c;
}

Bounds Pass::bounds(DualPoint& point, const SlopeFunction& slopes, double tol, const Monitor& monitor) const {
    const Bound primal = make(point, slopes);
    Bounds found = between(primal, point.value());
    if (found.wants_care(tol) && !monitor.timed_out()) look_closely(point, found);
    return found;
}

void Pass::look_closely(DualPoint& point, Bounds& bounds) const {
    DualPoint exact;
    const auto given = [&](std::size_t first, std::size_t last, const double*, double* q) {
        slopes_of(point, first, last, q);
    };
    const Bound primal = make(exact, given, true);
    const Bounds found = between(primal, exact.value());
    bounds.lower(found);
    if (bounds.raise(found)) point = std::move(exact);
}

Bounds Certifier::check(const Pass& pass, const SlopeFunction& slopes, double tol) {
    const bool first = best_.q.empty();
    if (!first && best_.u.empty()) {
        DualPoint before;
        std::swap(before.q, best_.q);
        pass.make(best_, [&](std::size_t begin, std::size_t end, const double*, double* q) {
            pass.slopes_of(before, begin, end, q);
        });
    }
    DualPoint fresh;
    const Bound primal = pass.make(fresh, slopes);
    fresh.rescale();
    if (first) {
        best_ = std::move(fresh);
    } else {
        best_.join(fresh);
        best_.rescale();
    }
    Bounds found = between(primal, best_.value());
    if (found.wants_care(tol) && !monitor_.timed_out()) pass.look_closely(best_, found);
    return found;
}

Bound Certifier::include(const Pass& pass, const std::vector<double>& q) {
    DualPoint point;
    pass.make(point, [&](std::size_t first, std::size_t last, const double*, double* out) {
        std::copy(q.data() + first, q.data() + last, out);
    });
    point.rescale();
    best_.join(point);
    best_.rescale();
    return best_.value();
}

}  // namespace pegasos
