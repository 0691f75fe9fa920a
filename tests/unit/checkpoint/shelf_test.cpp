#include "checkpoint/shelf.hpp"

#include "support/catch.hpp"

using namespace ddpkit;

namespace {

std::vector<std::string> names(const std::vector<ShelfEntry>& entries) {
  std::vector<std::string> result;
  for (const ShelfEntry& entry : entries) result.push_back(entry.folder.string());
  return result;
}

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("the newest checkpoints and the newest best one are kept") {
  const std::vector<ShelfEntry> shelf{{.folder = "e", .sequence = 5},
                                      {.folder = "d", .sequence = 4},
                                      {.folder = "c", .sequence = 3, .standing = Standing::best},
                                      {.folder = "b", .sequence = 2},
                                      {.folder = "a", .sequence = 1, .standing = Standing::best}};
  CHECK(names(to_delete(shelf, 2, KeepBest::yes)) == Names{"b", "a"});
  CHECK(names(to_delete(shelf, 2, KeepBest::no)) == Names{"c", "b", "a"});
  CHECK(names(to_delete(shelf, 3, KeepBest::yes)) == Names{"b", "a"});
  CHECK(to_delete(shelf, 9, KeepBest::yes).empty());
  CHECK(to_delete({}, 1, KeepBest::yes).empty());
}

TEST_CASE("unreadable checkpoints do not count among those that are kept") {
  const std::vector<ShelfEntry> shelf{{.folder = "b", .sequence = 2}, {.folder = "c", .problem = "no manifest.json"}};
  CHECK(names(to_delete(shelf, 2, KeepBest::yes)) == Names{"c"});
}
