// Prints the best build for this processor; it fails where there is none.
#include <cstdio>

#include "cpu.hpp"

int main() {
    const auto runs = pegasos::levels();
    return runs.empty() || std::fputs(runs.front().c_str(), stdout) < 0;
}
