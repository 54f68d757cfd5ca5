#include "backends/lowering/lanes/block_access.h"

#include <algorithm>
#include <map>
#include <utility>

namespace tilewright::lowering {
namespace {

// More than these are never held at once.
constexpr size_t kMaxPieces = 64;

std::vector<int64_t> Sorted(const BlockOffsets& offsets) {
  std::vector<int64_t> sorted;
  for (const auto& row : offsets) {
    for (const std::optional<int64_t>& offset : row) {
      if (offset) sorted.push_back(*offset);
    }
  }
  std::sort(sorted.begin(), sorted.end());
  return sorted;
}

int PowerOfTwoAtLeast(int64_t n) {
  int p = 1;
  while (p < n) p *= 2;
  return p;
}

// Elements that lie side by side.
struct Run {
  int64_t first, count;
};
std::vector<Run> RunsOf(const std::vector<int64_t>& sorted) {
  std::vector<Run> runs;
  for (int64_t offset : sorted) {
    if (!runs.empty() && offset == runs.back().first + runs.back().count) {
      ++runs.back().count;
    } else if (runs.empty() ||
               offset >= runs.back().first + runs.back().count) {
      runs.push_back({offset, 1});
    }
  }
  return runs;
}

using Pieces = std::vector<BlockAccess::Piece>;

// Each run by itself. With `overlap` its last vector, if it would not be full,
// reaches back instead.
Pieces CutRuns(const std::vector<Run>& runs, int lanes, bool overlap) {
  Pieces pieces;
  for (const Run& run : runs) {
    for (int64_t at = 0; at < run.count; at += lanes) {
      const int64_t rest = run.count - at;
      if (rest >= lanes) {
        pieces.push_back({run.first + at, lanes});
      } else if (overlap && at > 0) {
        pieces.push_back({run.first + run.count - lanes, lanes});
      } else {
        pieces.push_back({run.first + at, static_cast<int>(rest)});
      }
    }
  }
  return pieces;
}

// Vectors from each element on that none before covers, whatever lies between.
Pieces Cover(const std::vector<int64_t>& sorted, int lanes) {
  Pieces pieces;
  const int64_t last = sorted.back();
  int64_t covered = sorted.front();
  for (int64_t offset : sorted) {
    if (offset < covered) continue;
    int64_t first = offset;
    if (last + 1 - first < lanes)
      first = std::max(sorted.front(), last + 1 - lanes);
    pieces.push_back(
        {first, static_cast<int>(std::min<int64_t>(lanes, last + 1 - first))});
    covered = pieces.back().offset + pieces.back().active;
  }
  return pieces;
}

// Where each element stands; an element in two pieces counts in the first.
std::map<int64_t, LanePlace> PlacesOf(const Pieces& pieces) {
  std::map<int64_t, LanePlace> places;
  for (size_t p = 0; p < pieces.size(); ++p) {
    for (int i = 0; i < pieces[p].active; ++i)
      places.insert({pieces[p].offset + i, {static_cast<int>(p), i}});
  }
  return places;
}

std::optional<BlockAccess> LoadBy(Pieces pieces, int lanes,
                                  const BlockOffsets& offsets,
                                  int64_t element_bytes) {
  if (pieces.size() > kMaxPieces || lanes < 2) return std::nullopt;
  BlockAccess access;
  access.lanes = lanes;
  const std::map<int64_t, LanePlace> places = PlacesOf(pieces);
  access.pieces = std::move(pieces);
  std::vector<std::vector<LanePlace>> wanted;
  for (const auto& row : offsets) {
    wanted.emplace_back();
    for (const std::optional<int64_t>& offset : row)
      wanted.back().push_back(offset ? places.at(*offset) : LanePlace{});
  }
  access.moves = PlanLaneMoves(static_cast<int>(access.pieces.size()), lanes,
                               element_bytes, wanted);
  return access;
}

}  // namespace

std::optional<BlockAccess> PlanBlockLoad(const BlockOffsets& offsets,
                                         int64_t element_bytes, int max_lanes) {
  const std::vector<int64_t> sorted = Sorted(offsets);
  if (sorted.empty()) return std::nullopt;
  const std::vector<Run> runs = RunsOf(sorted);
  int64_t longest = 0;
  for (const Run& run : runs) longest = std::max(longest, run.count);
  const int run_lanes = std::min(max_lanes, PowerOfTwoAtLeast(longest));
  const int span_lanes = static_cast<int>(std::min<int64_t>(
      max_lanes, PowerOfTwoAtLeast(std::min<int64_t>(
                     max_lanes, sorted.back() - sorted.front() + 1))));
  std::optional<BlockAccess> best;
  const auto consider = [&](Pieces pieces, int lanes) {
    std::optional<BlockAccess> access =
        LoadBy(std::move(pieces), lanes, offsets, element_bytes);
    if (access && (!best || access->cost() < best->cost()))
      best = std::move(access);
  };
  consider(CutRuns(runs, run_lanes, true), run_lanes);
  if (runs.size() > 1) consider(Cover(sorted, span_lanes), span_lanes);
  return best;
}

std::optional<BlockAccess> PlanBlockStore(const BlockOffsets& offsets,
                                          int64_t element_bytes,
                                          int max_lanes) {
  const std::vector<int64_t> sorted = Sorted(offsets);
  if (sorted.empty() ||
      std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end())
    return std::nullopt;
  const std::vector<Run> runs = RunsOf(sorted);
  int64_t longest = 0;
  for (const Run& run : runs) longest = std::max(longest, run.count);
  BlockAccess access;
  access.lanes = std::min(max_lanes, PowerOfTwoAtLeast(longest));
  access.pieces = CutRuns(runs, access.lanes, false);
  if (access.lanes < 2 || access.pieces.size() > kMaxPieces)
    return std::nullopt;
  const std::map<int64_t, LanePlace> places = PlacesOf(access.pieces);
  std::vector<std::vector<LanePlace>> wanted(
      access.pieces.size(), std::vector<LanePlace>(access.lanes));
  for (size_t row = 0; row < offsets.size(); ++row) {
    for (size_t i = 0; i < offsets[row].size(); ++i) {
      if (!offsets[row][i]) continue;
      const LanePlace place = places.at(*offsets[row][i]);
      wanted[place.vector][place.lane] = {static_cast<int>(row),
                                          static_cast<int>(i)};
    }
  }
  access.moves =
      PlanLaneMoves(static_cast<int>(offsets.size()),
                    static_cast<int>(offsets[0].size()), element_bytes, wanted);
  return access;
}

BlockOffsets StridedBlock(int rows, int lanes, int active, int64_t row_stride,
                          int64_t lane_stride) {
  BlockOffsets offsets(rows, std::vector<std::optional<int64_t>>(lanes));
  for (int p = 0; p < rows; ++p) {
    for (int i = 0; i < active; ++i)
      offsets[p][i] = p * row_stride + i * lane_stride;
  }
  return offsets;
}

}  // namespace tilewright::lowering
