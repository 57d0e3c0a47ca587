// The part of the program that may be compiled with other instruction-set flags than main.cpp.
#pragma once

#include <cstdint>

#include "probably/probably.hpp"

void insert_with_other_flags(probably::BlockedBloom& filter, std::uint64_t key);
bool contains_with_other_flags(const probably::BlockedBloom& filter, std::uint64_t key);
