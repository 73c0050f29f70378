#include "sequence/viterbi.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <string>

namespace pegasos {

double Viterbi::decode(const double* scores, std::size_t length, const Links& links, Label* best) {
    if (length == 0) return 0;
    const std::size_t stride = links.stride(), K = links.n_labels();
    forward(scores, length, links);
    const double *end = &ahead_[(length - 1) * stride], *last = links.row(links.last());
    double highest = -std::numeric_limits<double>::infinity();
    std::size_t label = 0;
    for (std::size_t k = 0; k < K; ++k)
        if (end[k] + last[k] > highest) {
            highest = end[k] + last[k];
            label = k;
        }
    for (std::size_t t = length; t-- > 0;) {
        best[t] = static_cast<Label>(label);
        if (t > 0) label = before(t, label, links);
    }
    return highest;
}

void Viterbi::max_marginals(const double* scores, std::size_t length, const Links& links, double* out) {
    if (length == 0) return;
    const std::size_t stride = links.stride(), K = links.n_labels();
    forward(scores, length, links);
    AlignedVector<double> behind(stride), sum(stride);
    std::copy_n(links.row(links.last()), stride, behind.begin());
    for (std::size_t t = length; t-- > 0;) {
        for (std::size_t k = 0; k < K; ++k) out[t * K + k] = ahead_[t * stride + k] + behind[k];
        if (t == 0) break;
        for (std::size_t k = 0; k < stride; ++k) sum[k] = scores[t * stride + k] + behind[k];
        for (std::size_t j = 0; j < K; ++j) {
            const double* link = links.row(j);
            double highest = -std::numeric_limits<double>::infinity();
#pragma omp simd reduction(max : highest)
            for (std::size_t k = 0; k < stride; ++k) highest = std::max(highest, sum[k] + link[k]);
            behind[j] = highest;
        }
    }
}

/// Some labels of a position, in registers.
template <std::size_t width>
void Viterbi::step(const double* scores, std::size_t t, std::size_t at, const Links& links) {
    const std::size_t stride = links.stride(), K = links.n_labels();
    const double* before = &ahead_[(t - 1) * stride];
    double best[width];
    for (std::size_t k = 0; k < width; ++k) best[k] = -std::numeric_limits<double>::infinity();
    for (std::size_t j = 0; j < K; ++j) {
        const double* link = links.row(j) + at;
        const double own = before[j];
#pragma omp simd
        for (std::size_t k = 0; k < width; ++k) best[k] = own + link[k] > best[k] ? own + link[k] : best[k];
    }
    for (std::size_t k = 0; k < width; ++k)
        ahead_[t * stride + at + k] = best[k] + scores[t * stride + at + k];
}

/// The best score of each label at each position.
void Viterbi::forward(const double* scores, std::size_t length, const Links& links) {
    const std::size_t stride = links.stride();
    if (ahead_.size() < length * stride) ahead_.resize(length * stride);
    for (std::size_t k = 0; k < stride; ++k) ahead_[k] = links.row(links.first())[k] + scores[k];
    for (std::size_t t = 1; t < length; ++t) {
        std::size_t at = 0;
        for (; at + 24 <= stride; at += 24) step<24>(scores, t, at, links);
        for (; at < std::min(stride, links.n_labels()); at += 8) step<8>(scores, t, at, links);
        for (; at < stride; ++at) ahead_[t * stride + at] = -std::numeric_limits<double>::infinity();
    }
}

/// The label before `label` at position t, of those that lead to its best score the first.
std::size_t Viterbi::before(std::size_t t, std::size_t label, const Links& links) const {
    const double* ahead = &ahead_[(t - 1) * links.stride()];
    std::size_t from = 0;
    double highest = -std::numeric_limits<double>::infinity();
    for (std::size_t j = 0; j < links.n_labels(); ++j) {
        const double sum = ahead[j] + links[links.place(j, label)];
        if (sum > highest) {
            highest = sum;
            from = j;
        }
    }
    return from;
}

std::vector<Label> decode_sequences(std::span<const double> scores, std::span<const std::uint64_t> starts,
                                    const Links& links, std::vector<double>* marginals, Context& context) {
    const std::size_t K = links.n_labels(), stride = links.stride(), n = starts.size() - 1;
    std::vector<Label> labels(scores.size() / K);
    if (marginals) marginals->resize(scores.size());
    context.team.run([&](std::size_t worker) {
        Viterbi viterbi;
        AlignedVector<double> own;
        for (std::size_t i = worker; i < n && !context.team.failed(); i += context.team.size()) {
            const auto start = static_cast<std::size_t>(starts[i]),
                       length = static_cast<std::size_t>(starts[i + 1]) - start;
            if (own.size() < length * stride) own.resize(length * stride);
            for (std::size_t t = 0; t < length; ++t)
                std::copy_n(scores.data() + (start + t) * K, K, own.data() + t * stride);
            const double best = viterbi.decode(own.data(), length, links, labels.data() + start);
            if (!(best > -std::numeric_limits<double>::infinity()))
                throw std::domain_error("the constraints allow no labels for X[" + std::to_string(i) +
                                        "], of length " + std::to_string(length) + "; relax them");
            if (marginals) viterbi.max_marginals(own.data(), length, links, marginals->data() + start * K);
            if (worker == 0) context.monitor.worked(length * K * (8 + K) / 8);
        }
    });
    return labels;
}

}  // namespace pegasos
