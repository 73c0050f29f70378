// Where svmlight text comes from, cut into blocks of whole lines that threads can fetch independently.
#pragma once

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <string_view>
#include <system_error>

#include "base/growing_array.hpp"
#include "base/read_at.hpp"
#include "text/svmlight_numbers.hpp"

namespace pegasos::svmlight {

/// Bytes of a file being parsed; one per thread. They stay in its cache from the read to the parser.
using Window = GrowingArray<char>;

struct Lines {
    std::string_view text;
    const char* limit;  // bytes before it may be read; no digit follows a line that has no end
};

/// Some text, and the lines that begin in a part of it.
class Text {
public:
    explicit Text(std::size_t size) : size_(size) {}
    virtual ~Text() = default;
    std::size_t size() const { return size_; }

    /// The lines that begin in [first, last), whole.
    virtual Lines lines(std::size_t first, std::size_t last, Window& window) const = 0;

protected:
    /// Of `text`, which is bytes [start, ...) of all, the lines that begin in [first, last), all of them but
    /// perhaps the end of the last one.
    static std::string_view cut(std::string_view text, std::size_t start, std::size_t first,
                                std::size_t last) {
        std::size_t from = first - start;
        if (first > 0 && text[from - 1] != '\n') from = text.find('\n', from) + 1;  // npos + 1 is 0
        if ((first > 0 && from == 0) || from >= last - start) return {};
        const std::size_t newline = text.find('\n', last - start - 1);
        return text.substr(from, newline == text.npos ? text.npos : newline + 1 - from);
    }

private:
    std::size_t size_;
};

class TextInMemory : public Text {
public:
    explicit TextInMemory(std::string_view text) : Text(text.size()), text_(text) {}
    Lines lines(std::size_t first, std::size_t last, Window&) const override {
        return {cut(text_, 0, first, last), text_.data() + text_.size()};
    }

private:
    std::string_view text_;
};

/// A regular file. It is read and not mapped into memory, where one that shrinks would end the process.
class TextInFile : public Text {
public:
    TextInFile(int file, std::size_t size) : Text(size), file_(file) {}

    Lines lines(std::size_t first, std::size_t last, Window& window) const override {
        const std::size_t start = first > 0 ? first - 1 : 0;  // to know whether a line begins at first
        std::size_t end = start;
        for (std::size_t more = tail;; more *= 2) {
            const std::size_t next = std::min(size(), std::max(end, last) + more);
            char* const bytes = window.at_least(next - start + lookahead);
            read(bytes + (end - start), end, next);
            end = next;
            // Where the last line has no end, what was here before must not continue its last number.
            std::memset(bytes + (end - start), 0, lookahead);
            const std::string_view text(bytes, end - start);
            const std::string_view found = cut(text, start, first, last);
            if (found.empty() || found.back() == '\n' || end == size())
                return {found, text.data() + text.size() + lookahead};
        }
    }

private:
    static constexpr std::size_t tail = 1 << 13;

    void read(char* to, std::size_t from, std::size_t end) const {
        while (from < end) {
            const std::ptrdiff_t count = read_at(file_, to, end - from, from);
            if (count < 0 && errno == EINTR) continue;
            if (count < 0) throw std::system_error(errno, std::generic_category(), "reading");
            if (count == 0)
                throw std::invalid_argument("the file became shorter while it was read; read it again");
            to += count;
            from += static_cast<std::size_t>(count);
        }
    }

    int file_;
};

}  // namespace pegasos::svmlight
