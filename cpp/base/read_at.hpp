// Reading a file at a place of it, by threads at once.
#pragma once

#ifdef _WIN32
#include <io.h>
#include <stdio.h>

#include <algorithm>
#include <mutex>
#else
#include <unistd.h>
#endif

#include <cstddef>

namespace pegasos {

/// Bytes from a place of the file on, as many as come; -1 and errno where that fails. Threads may read at
/// once.
inline std::ptrdiff_t read_at(int file, char* to, std::size_t count, std::size_t from) {
#ifdef _WIN32
    static std::mutex turn;  // a file has one position
    const std::lock_guard lock(turn);
    if (_lseeki64(file, static_cast<long long>(from), SEEK_SET) < 0) return -1;
    return _read(file, to, static_cast<unsigned>(std::min(count, std::size_t{1} << 30)));
#else
    return ::pread(file, to, count, static_cast<off_t>(from));
#endif
}

}  // namespace pegasos
