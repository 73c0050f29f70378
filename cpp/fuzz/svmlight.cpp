// Damaged svmlight text against the reader, under sanitizers (`make fuzz`): no byte outside the text is read,
// and threads, the cut into blocks and the kind of source change nothing.
//
//   fuzz SEED TRIALS
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <random>

#include "text/svmlight_parser.cpp"
#include "text/svmlight_reader.hpp"

using namespace pegasos::svmlight;

namespace {

const std::string seeds[] = {
    "1 1:0.5 3:2\n-1 2:1 # c\n",
    "+1 qid:3 1:1e-3 7:-4.25\r\n\r\n# only\r\n0 9:1",
    "2.5\n-1 5:1e300 6:-1e-300 2147483646:0.1\n",
    "1,2 1:0.25\n3 1:1 4:12345678.87654321\n 2:7\n",
    "0 0:1 1:0.12345678901234567 2:123456789012345678 99999999999:1\n1 8:00000000000000000001.5\n",
    "1 1:1 2:1 3:1 4:1 5:1 6:1\n",
};
const std::string alphabet("0123456789:.# \n\r\t,e+-q\0\xef", 25);

/// A file without a name.
class TemporaryFile {
public:
    explicit TemporaryFile(const std::string& text) : file_(std::tmpfile()) {
        if (!file_ || std::fwrite(text.data(), 1, text.size(), file_) != text.size()) std::abort();
        std::fflush(file_);
    }
    ~TemporaryFile() { std::fclose(file_); }
    int number() const { return fileno(file_); }

private:
    std::FILE* file_;
};

/// The bytes of all arrays, or the message.
template <class T>
std::string outcome(const std::string& text, const ReadOptions& options, std::size_t threads,
                    std::size_t block_bytes, bool from_file) {
    const std::vector<char> exact(text.begin(), text.end());  // whose ends the sanitizer watches
    Reader<T> reader(options, threads, block_bytes);
    try {
        if (from_file) {
            const TemporaryFile file(text);
            reader.add(TextInFile(file.number(), text.size()), {});
        } else {
            reader.add(TextInMemory({exact.data(), exact.size()}), {});
        }
    } catch (const ParseError& error) {
        return error.what();
    }
    const Table<T> table = reader.take();
    std::string result = std::to_string(table.n_features);
    const auto append = [&](const auto* data, std::size_t size) {
        if (size) result.append(reinterpret_cast<const char*>(data), size * sizeof *data);
    };
    append(table.values.data(), table.entries);
    append(table.labels.data(), table.n_labels);
    append(table.starts.data(), table.rows + 1);
    for (std::size_t k = 0; k < table.entries; ++k) {
        const std::int64_t column = table.is_wide ? table.wide_columns.data()[k] : table.columns.data()[k];
        if (column < 0 || column >= table.n_features) std::abort();
        result += std::to_string(column) + ',';
    }
    return result;
}

}  // namespace

int main(int count, char** arguments) {
    if (count != 3) return std::puts("fuzz SEED TRIALS"), 2;
    std::mt19937 random(static_cast<unsigned>(std::atoi(arguments[1])));
    const auto below = [&](std::size_t n) { return random() % n; };
    const auto letter = [&] { return alphabet[below(alphabet.size())]; };
    long read = 0, refused = 0;
    for (int trial = 0; trial < std::atoi(arguments[2]); ++trial) {
        std::string text;
        if (below(5) == 0)
            for (std::size_t k = below(200); k > 0; --k) text += letter();
        else
            for (std::size_t k = below(4) + 1; k > 0; --k) text += seeds[below(std::size(seeds))];
        for (std::size_t k = below(4); k > 0; --k) {
            const std::size_t at = below(text.size() + 1);
            switch (below(3)) {
                case 0:
                    text.insert(at, 1, letter());
                    break;
                case 1:
                    text.erase(at, below(4) + 1);
                    break;
                default:
                    text.resize(at);
            }
        }
        const ReadOptions options{static_cast<Base>(below(3)), below(3) ? -1 : 9, below(8) == 0,
                                  below(2) == 0};
        const bool single = below(2) == 0;
        const auto attempt = [&](std::size_t threads, bool from_file) {
            constexpr std::size_t sizes[] = {1, 7, 33, 1 << 18};
            const std::size_t block_bytes = sizes[below(4)];
            return single ? outcome<float>(text, options, threads, block_bytes, from_file)
                          : outcome<double>(text, options, threads, block_bytes, from_file);
        };
        const std::string expected = attempt(1, false);
        for (int k = 0; k < 3; ++k)
            if (attempt(1 + below(3), below(2) == 0) != expected)
                return std::printf("trial %d differs:\n%s\n", trial, text.c_str()), 1;
        ++(expected.starts_with("line ") ? refused : read);
    }
    std::printf("%ld texts read, %ld refused\n", read, refused);
}
