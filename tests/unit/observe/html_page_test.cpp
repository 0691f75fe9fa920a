#include "ddpkit/observe/html_page.hpp"

#include "support/catch.hpp"
#include "support/well_formed.hpp"

namespace ddpkit {
namespace {

using Catch::Matchers::Contains;

HtmlPage sample() {
  HtmlPage page("Check of <run>");
  page.heading("Scaling & memory");
  page.paragraph("Twice \"as\" fast.");
  page.verdict(HtmlPage::Verdict::good, "memory", "78 %", "fits");
  page.verdict(HtmlPage::Verdict::bad, "scaling", "40 %", "slow <net>");
  TextTable table({{"ranks"}, {"note", TextTable::Align::left}});
  table.add({"2", "a < b"});
  page.table(table);
  page.chart({.title = "One", .x = {}, .y = {}, .series = {}, .guides = {}});
  page.chart({.title = "Two", .x = {}, .y = {}, .series = {}, .guides = {}});
  return page;
}

TEST_CASE("a page is one document that needs nothing else") {
  const std::string page = sample().str();
  CHECK(testing::WellFormed::problem_of(page) == "");
  CHECK_THAT(page, Contains("<title>Check of &lt;run&gt;</title>") && Contains("slow &lt;net&gt;"));
  CHECK_THAT(page, !Contains("<script") && !Contains("src=") && !Contains("href=") && !Contains("url("));
  CHECK(page.size() < 20'000);
}

TEST_CASE("columns to the right are numbers, and verdicts say their word without colour") {
  const std::string page = sample().str();
  CHECK_THAT(page, Contains("<td class=\"right\">2</td><td>a &lt; b</td>"));
  CHECK_THAT(page, Contains("✓ good") && Contains("✗ bad"));
}

TEST_CASE("what is added comes in order") {
  const std::string page = sample().str();
  CHECK(page.find("memory</h2>") < page.find("<table>"));
  CHECK(page.find("<title>One") < page.find("<title>Two"));
}

}  // namespace
}  // namespace ddpkit
