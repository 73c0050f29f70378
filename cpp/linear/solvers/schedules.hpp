// The step sizes eta_t of the sub-gradient solvers, which make the algorithm.
//
//   pegasos      eta_t = 1 / (lambda t), so w_{t+1} = (1 - 1/t) w_t + v_t / (lambda t); without projection
//                that is w_{t+1} = (v_1 + ... + v_t) / (lambda t)   (S0 Fig. 1 and 2, eq. 13)
//   norma        eta_t = p / (lambda sqrt(t)) with 0 < p < 1, NORMA as S0 section 7.6 describes it
//   constant     eta_t = eta: Zhang's stochastic gradient descent, ibid.
//   svm_sgd      eta_t = 1 / (lambda (t - 1 + t0)), t0 >= 1: SvmSgd, with which S3 section 3 compares.
//                t0 = 1 is pegasos. For the first step, of size 1 / (lambda t0), first_step.cpp tries sizes
//   perceptron   S4 section 4.5: a row on which w errs, y <w, x> <= 0, is added to w, with weight s. No
//                step size, no shrinking. It does not minimise the objective, but its w is evaluated, and
//                its mistakes are a feasible dual point
//   norm_ball    SGD on the average hinge loss under ||w|| <= B (S4 section 4.2): no regulariser, but a
//                projection, with Zinkevich's and Zhang's step sizes eta_t = B / (R sqrt(t)), R the
//                largest norm of a row
#pragma once

#include <cmath>
#include <cstdint>
#include <stdexcept>
#include <string>

namespace pegasos {

/// The step size, and what is left of w: 1 - eta lambda.
struct StepSize {
    double eta;
    double shrink;
};

struct Schedule {
    enum class Kind { pegasos, norma, constant, svm_sgd, perceptron, norm_ball };

    Kind kind = Kind::pegasos;
    double parameter = 0;  // p; eta; t0; such that a mistake adds y_i s_i x_i; B / R
    double lambda = 0;     // of the problem

    static Schedule named(const std::string& name, double parameter) {
        if (name == "pegasos") return {Kind::pegasos};
        if (name == "norma") return {Kind::norma, parameter};
        if (name == "constant") return {Kind::constant, parameter};
        if (name == "svm_sgd") return {Kind::svm_sgd, parameter};
        if (name == "perceptron") return {Kind::perceptron, parameter};
        if (name == "norm_ball") return {Kind::norm_ball, parameter};
        throw std::invalid_argument("unknown schedule '" + name + "'");
    }

    StepSize operator()(std::uint64_t t) const {
        if (kind == Kind::pegasos || kind == Kind::svm_sgd) {
            const double now = static_cast<double>(t);
            const double inverse = 1 / (kind == Kind::pegasos ? now : now - 1 + parameter);
            return {inverse / lambda, 1 - inverse};
        }
        if (kind == Kind::perceptron) return {parameter, 1};
        if (kind == Kind::constant) return {parameter, 1 - parameter * lambda};
        const double part = parameter / std::sqrt(static_cast<double>(t));
        return kind == Kind::norma ? StepSize{part / lambda, 1 - part} : StepSize{part, 1};
    }
};

}  // namespace pegasos
