// probably: "have I seen this key?" answered with no (certain) or probably (at a rate that you
// chose).
//
// Includes everything. Start with blocked.hpp; README.md says which filter is for what.
#pragma once

#include "probably/any_filter.hpp"
#include "probably/batch.hpp"
#include "probably/blocked.hpp"
#include "probably/bloom.hpp"
#include "probably/capacity.hpp"
#include "probably/digest.hpp"
#include "probably/foreign.hpp"
#include "probably/interop.hpp"
#include "probably/io.hpp"
#include "probably/kinds.hpp"
#include "probably/plan.hpp"
#include "probably/result.hpp"
#include "probably/scalable.hpp"
#include "probably/snapshot.hpp"
#include "probably/split_block.hpp"
#include "probably/storage.hpp"
#include "probably/version.hpp"
