// Arrays of a data set: read in pieces, with the checksum of each.
#include <cerrno>

#include "base/crc32.hpp"
#include "base/read_at.hpp"
#include "run.hpp"

namespace {

using Bytes = nb::ndarray<std::uint8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

std::uint32_t checksum(const Vector<std::uint8_t>& bytes, std::uint32_t before) {
    const nb::gil_scoped_release release;
    return crc32::of(bytes.data(), bytes.shape(0), before);
}

/// Fills `to` with pieces of a file, one after the other; the checksum of each.
Numpy<std::int64_t> read_pieces(int file, const Vector<std::int64_t>& begins,
                                const Vector<std::int64_t>& sizes, const Bytes& to) {
    if (begins.shape(0) != sizes.shape(0)) throw std::invalid_argument("lengths differ");
    std::vector<std::int64_t> found(sizes.shape(0));
    std::size_t place = 0;
    std::ptrdiff_t count = 1;
    int error = 0;
    {
        const nb::gil_scoped_release release;
        for (std::size_t k = 0; k < found.size() && count > 0; ++k) {
            const auto size = static_cast<std::size_t>(sizes.data()[k]);
            if (size > to.shape(0) - place) throw std::invalid_argument("no room");
            unsigned char* const piece = to.data() + place;
            for (std::size_t done = 0; done < size && count > 0; done += static_cast<std::size_t>(count)) {
                const std::size_t from = static_cast<std::size_t>(begins.data()[k]) + done;
                do count = read_at(file, reinterpret_cast<char*>(piece) + done, size - done, from);
                while (count < 0 && errno == EINTR);
                if (count <= 0) break;
            }
            error = errno;
            place += size;
            if (count > 0) found[k] = crc32::of(piece, size);
        }
    }
    errno = error;
    if (count < 0) PyErr_SetFromErrno(PyExc_OSError);
    if (count == 0) PyErr_SetString(PyExc_EOFError, "the file is too short");
    if (count <= 0) throw nb::python_error();
    return to_numpy(std::move(found));
}

/// The checksum of pieces that lie one after the other.
std::uint32_t join_checksums(const Vector<std::int64_t>& checksums, const Vector<std::int64_t>& sizes) {
    if (checksums.shape(0) != sizes.shape(0)) throw std::invalid_argument("lengths differ");
    std::uint32_t whole = 0;
    for (std::size_t k = 0; k < checksums.shape(0); ++k)
        whole = crc32::joined(whole, static_cast<std::uint32_t>(checksums.data()[k]),
                              static_cast<std::uint64_t>(sizes.data()[k]));
    return whole;
}

}  // namespace

void bind_files(nb::module_& m) {
    m.def("crc32", &checksum, "bytes"_a, "before"_a = 0, "CRC-32 of bytes after others, as zlib has it.");
    m.def("read_pieces", &read_pieces, "file"_a, "begins"_a, "sizes"_a, "to"_a,
          "Fills `to` with pieces of a file, one after the other; the CRC-32 of each.");
    m.def("join_checksums", &join_checksums, "checksums"_a, "sizes"_a,
          "The CRC-32 of pieces that lie one after the other.");
}
