#include <algorithm>
#include <functional>

#include "ddpkit/base/figures.hpp"
#include "ddpkit/batch/plan_list.hpp"

namespace ddpkit {
namespace {

using Cell = std::function<std::string(const ListedPlan&)>;

struct PlanColumn {
  TextTable::Column column;
  Cell cell;  ///< empty text: not known
};

/// A column of counts that may not be known.
PlanColumn count_column(std::string title, std::optional<std::int64_t> PlanOutcome::*count) {
  return {{std::move(title)},
          [count](const ListedPlan& plan) { return plan.outcome.*count ? grouped(*(plan.outcome.*count)) : std::string(); }};
}

PlanColumn predicted_column(std::string title, std::function<std::string(const RatedPlan&)> cell) {
  return {{std::move(title)},
          [cell = std::move(cell)](const ListedPlan& plan) { return plan.predicted ? cell(*plan.predicted) : std::string(); }};
}

std::string memory_text(const RatedPlan& rated) {
  if (rated.peak_bytes == 0) return {};
  return bytes_figure(rated.peak_bytes) + (rated.memory_share > 0 ? " (" + percent_figure(rated.memory_share) + ")" : "");
}

std::vector<PlanColumn> all_columns() {
  return {{{"micro"}, [](const ListedPlan& plan) { return grouped(plan.plan.micro); }},
          {{"accumulate"}, [](const ListedPlan& plan) { return grouped(plan.plan.accumulate); }},
          {{"ranks"}, [](const ListedPlan& plan) { return grouped(plan.plan.world_size()); }},
          {{"global"}, [](const ListedPlan& plan) { return grouped(plan.plan.global); }},
          {{"lr"}, [](const ListedPlan& plan) { return plan.outcome.lr ? figure(*plan.outcome.lr) : std::string(); }},
          count_column("warm-up", &PlanOutcome::warmup_steps),
          count_column("steps", &PlanOutcome::steps),
          count_column("steps/epoch", &PlanOutcome::steps_per_epoch),
          count_column("dropped", &PlanOutcome::dropped),
          count_column("padded", &PlanOutcome::padded),
          predicted_column("memory", memory_text),
          predicted_column("step time", [](const RatedPlan& rated) { return seconds_figure(rated.step_seconds); }),
          predicted_column("samples/s", [](const RatedPlan& rated) { return figure(rated.samples_per_second); }),
          {{"what it gives up", TextTable::Align::left}, [](const ListedPlan& plan) { return plan.cost; }}};
}

/// Columns of nothing but what is not known or zero are left out.
bool says_something(const PlanColumn& column, const std::vector<ListedPlan>& plans) {
  return std::ranges::any_of(plans, [&](const ListedPlan& plan) {
    const std::string cell = column.cell(plan);
    return !cell.empty() && cell != "0";
  });
}

}  // namespace

TextTable plan_table(const std::vector<ListedPlan>& plans) {
  std::vector<PlanColumn> kept = all_columns();
  std::erase_if(kept, [&](const PlanColumn& column) { return !says_something(column, plans); });
  std::vector<TextTable::Column> titles{{""}};
  for (const PlanColumn& column : kept) titles.push_back(column.column);
  TextTable table(std::move(titles));
  for (const ListedPlan& plan : plans) {
    const bool chosen = &plan == &plans.front() && plan.cost.empty();
    std::vector<std::string> cells{chosen ? "*" : ""};
    for (const PlanColumn& column : kept) cells.push_back(column.cell(plan));
    table.add(std::move(cells));
  }
  return table;
}

}  // namespace ddpkit
