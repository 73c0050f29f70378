// The dual of one sequence of labels, and ascent on it (chain.hpp has the symbols).
//
// The dual of training has for each sequence i a distribution q over all its labellings, of which only few
// have a share above zero: its vertices. With c = C s_i,
//
//     D = sum_i c sum_y q_i(y) cost(y_i, y) - 1/2 ||w||^2,    w = sum_i c sum_y q_i(y) (phi(x_i, y_i) -
//     phi(x_i, y)).
//
// At given weights the slope of D along q_i(y) is c m(y), m(y) = cost(y_i, y) + <w, phi(x_i, y)>, so the
// labelling with the highest m, found by decoding, is where share is to go; the sequence adds c (max_y m(y) -
// sum_y q_i(y) m(y)) >= 0 to the gap between primal and dual value. Moving the share t from b to a changes w
// by c t (phi(b) - phi(a)), and D by
//
//     c t (m(a) - m(b)) - 1/2 c^2 t^2 ||phi(a) - phi(b)||^2,
//
// which is maximised in closed form (Frank and Wolfe's step in pairs). Only positions where a and b differ
// count.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "base/growing_array.hpp"
#include "base/state.hpp"
#include "sequence/chain.hpp"
#include "sequence/viterbi.hpp"

namespace pegasos {

/// A labelling with a share of its sequence.
struct Vertex {
    std::vector<Label> labels;
    double cost;
    double share;

    void state(State& state) { state(labels, cost, share); }
};

/// What a visit changed in the columns of W, at some positions; the links are changed already.
struct SequenceMove {
    struct Position {
        std::size_t t, begin, end;  // of its changes
    };
    std::vector<Position> positions;
    std::vector<ClassChange> changes;
    double gap;   // of the sequence, before the visit
    double gain;  // of the dual
    bool moved;
};

/// A row of a sequence, once added or once taken off, in the column of a label.
struct Term {
    Label label;
    std::size_t t;
    double sign;
};

/// For each entry of each position, the number of its feature among those of its sequence: vectors of
/// features that matter to one sequence are then short.
class LocalNumbers {
public:
    explicit LocalNumbers(const SequenceProblem& problem) : starts_{0} {
        constexpr std::uint32_t none = UINT32_MAX;
        std::vector<std::uint32_t> numbers(problem.dimension(), none);
        std::vector<std::size_t> features;
        starts_.reserve(problem.rows.n_rows + 1);
        problem.rows.visit([&](const auto& rows) {
            std::size_t entries = 0;
            for (std::size_t row = 0; row < rows.n_rows; ++row) entries += rows.entries(row) + 1;
            numbers_.reserve(entries);
            for (std::size_t i = 0; i < problem.n_sequences(); ++i) {
                for (std::size_t t = 0; t < problem.length(i); ++t) {
                    rows.for_each(problem.start(i) + t, [&](std::size_t j, double) {
                        if (numbers[j] == none) {
                            numbers[j] = static_cast<std::uint32_t>(features.size());
                            features.push_back(j);
                        }
                        numbers_.push_back(numbers[j]);
                    });
                    starts_.push_back(numbers_.size());
                }
                most_ = std::max(most_, features.size());
                for (const std::size_t j : features) numbers[j] = none;
                features.clear();
            }
        });
    }

    const std::uint32_t* of(std::size_t position) const { return numbers_.data() + starts_[position]; }
    std::size_t most() const { return most_; }  // in one sequence

private:
    std::vector<std::uint32_t> numbers_;
    std::vector<std::size_t> starts_;
    std::size_t most_ = 0;
};

/// Products of the rows of one sequence at a time. They are the same at each visit: those that were needed
/// are kept for the next one where there is room for those of all sequences, else until the next sequence.
class LocalRows {
public:
    LocalRows(const SequenceProblem& problem, const LocalNumbers& numbers)
        : problem_(problem), numbers_(numbers), sum_(numbers.most()) {}

    void take(std::size_t i) {
        if (known_.empty()) make_room();
        start_ = problem_.start(i);
        length_ = problem_.length(i);
        square_ = keeps_all_ ? room_.data() + squares_[i] : room_.data();
        known_here_ = keeps_all_ ? &known_[start_] : known_.data();
        if (!keeps_all_) std::fill_n(known_here_, length_, false);
    }

    /// Whether they are worth computing now: there is room for them, and either later visits use them again,
    /// or no more of them are unknown than sums that would have to be computed in their place.
    bool worth_computing(std::size_t unknown, std::size_t sums) const {
        return keeps_all_ || (length_ <= longest_kept && unknown <= sums);
    }
    /// Whether those of row t with all rows are known.
    bool knows(std::size_t t) const { return known_here_[t]; }
    /// These; computed where they are not.
    const double* products(std::size_t t) {
        double* const out = square_ + t * length_;
        if (!known_here_[t]) {
            known_here_[t] = true;
            const Term own{0, t, 1.0};
            products({&own, 1}, out);
        }
        return out;
    }

    /// Those of the sum of some terms with all rows.
    void products(std::span<const Term> terms, double* out) {
        with_sum(terms, [&](const auto& rows) {
            for (std::size_t t = 0; t < length_; ++t) out[t] = dot(rows, t);
        });
    }
    /// The squared norm of the sum of some terms, added to `square`.
    void add_square(std::span<const Term> terms, double& square) {
        with_sum(terms, [&](const auto& rows) {
            for (const Term& term : terms) square += term.sign * dot(rows, term.t);
        });
    }

private:
    static constexpr std::size_t longest_kept = 2000;                // positions: at most 32 MB
    static constexpr std::size_t most_kept = std::size_t{16} << 20;  // products of all sequences: 128 MB

    void make_room() {
        std::size_t total = 0, largest = 1, longest = 1;
        squares_.resize(problem_.n_sequences());
        for (std::size_t i = 0; i < squares_.size(); ++i) {
            const std::size_t length = problem_.length(i);
            squares_[i] = total;
            total += length * length;
            longest = std::max(longest, length);
            if (length <= longest_kept) largest = std::max(largest, length * length);
        }
        keeps_all_ = total <= most_kept;
        room_.set_capacity(keeps_all_ ? total : largest);
        known_.assign(keeps_all_ ? problem_.rows.n_rows : longest, false);
    }

    /// f(rows), with the sum of the terms in sum_, which is zero before and after.
    template <class F>
    void with_sum(std::span<const Term> terms, F f) {
        problem_.rows.visit([&](const auto& rows) {
            for (const Term& term : terms)
                for_each(rows, term.t,
                         [&](std::uint32_t number, double x) { sum_[number] += term.sign * x; });
            f(rows);
            for (const Term& term : terms)
                for_each(rows, term.t, [&](std::uint32_t number, double) { sum_[number] = 0; });
        });
    }

    /// Of a row with the sum.
    template <class Rows>
    double dot(const Rows& rows, std::size_t t) const {
        double a = 0, b = 0, c = 0, d = 0;  // in turn, which hides the latency of the additions
        for_each(rows, t, [&](std::uint32_t number, double x) {
            const double next = a + x * sum_[number];
            a = b, b = c, c = d, d = next;
        });
        return (a + b) + (c + d);
    }

    template <class Rows, class F>
    void for_each(const Rows& rows, std::size_t t, F f) const {
        const std::uint32_t* number = numbers_.of(start_ + t);
        rows.for_each(start_ + t, [&](std::size_t, double x) { f(*number++, x); });
    }

    const SequenceProblem& problem_;
    const LocalNumbers& numbers_;
    std::vector<double> sum_;
    GrowingArray<double> room_;
    std::vector<std::size_t> squares_;  // where the products of each sequence begin
    std::vector<char> known_;           // by row
    bool keeps_all_ = false;
    double* square_ = nullptr;
    char* known_here_ = nullptr;
    std::size_t start_ = 0, length_ = 0;
};

/// Room for the work on one sequence at a time.
class SequenceDual {
public:
    SequenceDual(const SequenceProblem& problem, const LocalNumbers& numbers)
        : problem_(problem), rows_(problem, numbers), counts_(problem.barriers.size()) {}

    /// Takes sequence i at given weights, for one of the calls below.
    template <class Scorer>
    void take(std::size_t i, const Scorer& W) {
        i_ = i;
        score_positions(problem_, i, W, scores_);
    }

    /// Ascends on the sequence: decodes `decodings` times, with a few steps after each.
    void visit(Links& links, std::size_t decodings, std::vector<Vertex>& vertices, SequenceMove& move) {
        const std::size_t length = problem_.length(i_), stride = links.stride();
        if (changes_.size() < length * stride) changes_.resize(length * stride);
        changed_.clear();
        best_.resize(length);
        has_rows_ = false;
        move.gain = 0;
        move.moved = false;
        for (std::size_t round = 0; round < decodings; ++round) {
            const double highest = viterbi_.decode(scores_.data(), length, links, best_.data());
            const double gap = highest - mean_score(vertices, links);
            if (round == 0) move.gap = std::max(gap, 0.0);
            if (!(gap > 1e-14 * std::abs(highest))) break;
            add_vertex(vertices);
            bool stepped = false;
            for (std::size_t s = 1; s <= steps_each; ++s) {
                // After the last step the scores are of no more use.
                if (!step_in_pair(vertices, links, s == steps_each && round + 1 == decodings, move)) break;
                stepped = true;
            }
            if (!stepped) break;
            move.moved = true;
        }
        std::erase_if(vertices, [](const Vertex& vertex) { return !(vertex.share > 0); });
        tell(stride, links.n_labels(), move);
    }

    struct Values {
        double loss, gap;
    };
    /// Of the sequence, and nothing changes.
    Values evaluate(const Links& links, const std::vector<Vertex>& vertices) {
        best_.resize(problem_.length(i_));
        const double highest = viterbi_.decode(scores_.data(), best_.size(), links, best_.data());
        const double own = score_of(problem_.right(i_), scores_.data(), links);
        return {std::max(highest - own, 0.0), std::max(highest - mean_score(vertices, links), 0.0)};
    }

private:
    static constexpr std::size_t steps_each = 2;

    struct LinkCount {
        std::size_t place;
        double count;
    };

    /// Those of the g-th label.
    std::span<const Term> terms_of(std::size_t g) const {
        const std::size_t last = g + 1 < groups_.size() ? groups_[g + 1] : terms_.size();
        return std::span<const Term>(terms_).subspan(groups_[g], last - groups_[g]);
    }

    double mean_score(const std::vector<Vertex>& vertices, const Links& links) const {
        double sum = 0;
        for (const Vertex& vertex : vertices)
            if (vertex.share > 0) sum += vertex.share * score_of(vertex.labels, scores_.data(), links);
        return sum;
    }

    /// The labelling decoded last, if it is not there.
    void add_vertex(std::vector<Vertex>& vertices) {
        for (const Vertex& vertex : vertices)
            if (vertex.labels == best_) return;
        vertices.push_back({best_, problem_.cost_of(i_, best_), 0});
    }

    /// From the lowest one with a share to the highest one; false where nothing is to be gained.
    bool step_in_pair(std::vector<Vertex>& vertices, Links& links, bool last, SequenceMove& move) {
        // After a step within the bounds two of them score the same but for rounding: then the first counts.
        const auto above = [](double x, double y) { return x > y + 1e-12 * (std::abs(x) + std::abs(y)); };
        std::size_t a = vertices.size(), b = a;
        double highest = 0, lowest = 0;
        for (std::size_t v = 0; v < vertices.size(); ++v) {
            const double score = score_of(vertices[v].labels, scores_.data(), links);
            if (a == vertices.size() || above(score, highest)) highest = score, a = v;
            if (vertices[v].share > 0 && (b == vertices.size() || above(lowest, score)))
                lowest = score, b = v;
        }
        const double rise = highest - lowest;
        if (a == b || !(rise > 1e-14 * (std::abs(highest) + std::abs(lowest)))) return false;
        const double square = make_direction(vertices[a].labels, vertices[b].labels, links, last);
        const double c = problem_.C * problem_.weights[i_];
        double share = vertices[b].share;
        if (rise < c * square * share) {
            share = rise / (c * square);
            vertices[b].share -= share;
        } else {
            vertices[b].share = 0;
        }
        vertices[a].share += share;
        apply(c * share, links, last);
        move.gain += c * share * (rise - 0.5 * c * share * square);
        return true;
    }

    /// phi(b) - phi(a), and unless it is the last of the visit its effect on the scores of this sequence;
    /// returns its squared norm.
    double make_direction(const std::vector<Label>& a, const std::vector<Label>& b, const Links& links,
                          bool last) {
        const std::size_t length = a.size();
        if (!has_rows_) rows_.take(i_);
        has_rows_ = true;
        terms_.clear();
        for (std::size_t t = 0; t < length; ++t)
            if (a[t] != b[t]) {
                terms_.push_back({b[t], t, 1.0});
                terms_.push_back({a[t], t, -1.0});
            }
        std::sort(terms_.begin(), terms_.end(), [](const Term& x, const Term& y) {
            return x.label != y.label ? x.label < y.label : x.t < y.t;
        });
        groups_.clear();
        for (std::size_t k = 0; k < terms_.size(); ++k)
            if (k == 0 || terms_[k].label != terms_[k - 1].label) groups_.push_back(k);
        return (last ? square_of_terms() : square_with_effects(length)) + count_links(a, b, links);
    }

    /// The squared norm of the terms, label by label.
    double square_of_terms() {
        const bool known =
            std::all_of(terms_.begin(), terms_.end(), [&](const Term& term) { return rows_.knows(term.t); });
        double square = 0;
        for (std::size_t g = 0; g < groups_.size(); ++g) {
            const std::span<const Term> group = terms_of(g);
            if (known) {
                for (const auto& [label, t, sign] : group) {
                    const double* products = rows_.products(t);
                    for (const Term& other : group) square += sign * other.sign * products[other.t];
                }
                continue;
            }
            rows_.add_square(group, square);
        }
        return square;
    }

    /// The same, with the effect of each label's terms on all positions: by the products of each row, which
    /// later steps use again, or label by label.
    double square_with_effects(std::size_t length) {
        std::size_t unknown = 0;
        for (const Term& term : terms_) unknown += term.sign > 0 && !rows_.knows(term.t);
        const bool by_rows = rows_.worth_computing(unknown, groups_.size());
        effects_.assign(groups_.size() * length, 0.0);
        double square = 0;
        for (std::size_t g = 0; g < groups_.size(); ++g) {
            double* effect = &effects_[g * length];
            const std::span<const Term> group = terms_of(g);
            if (!by_rows)
                rows_.products(group, effect);
            else
                for (const auto& [label, t, sign] : group) {
                    const double* products = rows_.products(t);
                    for (std::size_t other = 0; other < length; ++other)
                        effect[other] += sign * products[other];
                }
            for (const auto& [label, t, sign] : group) square += sign * effect[t];
        }
        return square;
    }

    /// By how much the links of b outnumber those of a, and the sum of the squares.
    double count_links(const std::vector<Label>& a, const std::vector<Label>& b, const Links& links) {
        double square = 0;
        touched_.clear();
        const auto count = [&](std::size_t place, double sign) {
            if (!problem_.learns(place)) return;
            if (counts_[place] == 0) touched_.push_back(place);
            counts_[place] += sign;
        };
        links.for_each(b, [&](std::size_t place) { count(place, 1); });
        links.for_each(a, [&](std::size_t place) { count(place, -1); });
        // A place may be there twice, where its count passed zero: it is then counted once, and zero after.
        direction_.clear();
        for (const std::size_t place : touched_) {
            if (counts_[place] == 0) continue;
            direction_.push_back({place, counts_[place]});
            square += counts_[place] * counts_[place];
            counts_[place] = 0;
        }
        return square;
    }

    /// w <- w + step (phi(b) - phi(a)), as far as this sequence sees it.
    void apply(double step, Links& links, bool last) {
        const std::size_t stride = links.stride(), length = problem_.length(i_);
        for (std::size_t g = 0; g < groups_.size(); ++g) {
            const Label own = terms_[groups_[g]].label;
            for (const auto& [label, t, sign] : terms_of(g)) {
                changes_[t * stride + own] += step * sign;
                changed_.push_back(t);
            }
            if (last) continue;
            const double* effect = &effects_[g * length];
            for (std::size_t t = 0; t < length; ++t) scores_[t * stride + own] += step * effect[t];
        }
        for (const auto& [place, count] : direction_) links[place] += step * count;
    }

    /// The changes, position by position; they are zero afterwards.
    void tell(std::size_t stride, std::size_t n_labels, SequenceMove& move) {
        move.positions.clear();
        move.changes.clear();
        std::sort(changed_.begin(), changed_.end());
        changed_.erase(std::unique(changed_.begin(), changed_.end()), changed_.end());
        for (const std::size_t t : changed_) {
            const std::size_t begin = move.changes.size();
            for (std::size_t k = 0; k < n_labels; ++k) {
                const double change = std::exchange(changes_[t * stride + k], 0.0);
                if (change != 0) move.changes.push_back({static_cast<std::uint32_t>(k), change});
            }
            move.positions.push_back({t, begin, move.changes.size()});
        }
    }

    const SequenceProblem& problem_;
    std::size_t i_ = 0;
    Viterbi viterbi_;
    AlignedVector<double> scores_, changes_;
    LocalRows rows_;
    bool has_rows_ = false;  // those of sequence i
    std::vector<double> counts_, effects_;
    std::vector<Label> best_;
    std::vector<Term> terms_;
    std::vector<std::size_t> groups_, touched_, changed_;
    std::vector<LinkCount> direction_;
};

}  // namespace pegasos
