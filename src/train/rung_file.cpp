#include "train/rung_file.hpp"

#include <nlohmann/json.hpp>
#include <string>

#include "ddpkit/base/error.hpp"
#include "ddpkit/base/fields.hpp"
#include "ddpkit/base/text.hpp"
#include "observe/append_file.hpp"

namespace ddpkit {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kRungSchema = 1;

Json to_json(std::size_t rank, const MemoryAccount& account) {
  return {{"rank", rank},
          {"phase", name_of(account.phase)},
          {"live", account.live},
          {"peak", account.peak},
          {"reserved", account.reserved},
          {"limit", account.limit},
          {"wanted", account.wanted},
          {"growth", account.growth}};
}

Json to_json(const RungRecord& record) {
  Json json{{"schema", kRungSchema},
            {"step", record.step},
            {"rung", name_of(record.decision.rung)},
            {"micro", record.decision.micro},
            {"reason", record.decision.reason}};
  json["ranks"] = Json::array();
  for (std::size_t rank = 0; rank < record.accounts.size(); ++rank)
    json["ranks"].push_back(to_json(rank, record.accounts[rank]));
  return json;
}

}  // namespace

void append_rung(const TrainerContext& context, const RungRecord& record) {
  if (context.run_folder.path().empty()) return;
  try {
    AppendFile file(context.run_folder.ladder());
    file.drop_torn_line();
    file.append(to_json(record).dump() + '\n');
    file.sync();
  } catch (const StorageError& error) {
    context.log.warning("memory", text(error.what(), "; training goes on without it"));
  }
}

}  // namespace ddpkit
