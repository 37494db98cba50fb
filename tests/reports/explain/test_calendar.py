"""The calendar as characters, JSON and SVG."""

import json
import re
from datetime import date
from xml.etree import ElementTree as ET

from gpupool.explain.calendar import Calendar, build_calendar
from gpupool.reports.explain.calendar import render_text, to_json
from gpupool.reports.explain.calendar_svg import render_svg
from gpupool.yamlio.located import Plain

SVG = "{http://www.w3.org/2000/svg}"
BUDGETS: list[Plain] = [
    {"nodes": "20%", "reasons": ["Drifted", "Underutilized"]},
    {"nodes": "0", "reasons": ["Drifted", "Underutilized"], "schedule": "30 7 * * 1-5", "duration": "12h"},
    {"nodes": "1", "reasons": ["Drifted", "Underutilized"], "schedule": "@weekly", "duration": "2h"},
]
EXPECTED = """\
NodePool chat: nodes that may be disrupted, by hour
Week of Mon 23 Mar 2026, Europe/Berlin, if the pool has 10 nodes

Empty: 10 (all) in every hour of the week

Drifted, Underutilized
       00 01 02 03 04 05 06 07 08 09 10 11 12 13 14 15 16 17 18 19 20 21 22 23
Mon 23 ▓▓ ▓▓ ▓▓ ▓▓ ▓▓ ▓▓ ▓▓ ▓▓ ··*·· ·· ·· ·· ·· ·· ·· ·· ·· ·· ·· ··*▓▓ ▓▓ ▓▓
Tue 24 ▓▓ ▓▓ ▓▓ ▓▓ ▓▓ ▓▓ ▓▓ ▓▓ ··*·· ·· ·· ·· ·· ·· ·· ·· ·· ·· ·· ··*▓▓ ▓▓ ▓▓
Wed 25 ▓▓ ▓▓ ▓▓ ▓▓ ▓▓ ▓▓ ▓▓ ▓▓ ··*·· ·· ·· ·· ·· ·· ·· ·· ·· ·· ·· ··*▓▓ ▓▓ ▓▓
Thu 26 ▓▓ ▓▓ ▓▓ ▓▓ ▓▓ ▓▓ ▓▓ ▓▓ ··*·· ·· ·· ·· ·· ·· ·· ·· ·· ·· ·· ··*▓▓ ▓▓ ▓▓
Fri 27 ▓▓ ▓▓ ▓▓ ▓▓ ▓▓ ▓▓ ▓▓ ▓▓ ··*·· ·· ·· ·· ·· ·· ·· ·· ·· ·· ·· ··*▓▓ ▓▓ ▓▓
Sat 28 ▓▓ ▓▓ ▓▓ ▓▓ ▓▓ ▓▓ ▓▓ ▓▓ ▓▓ ▓▓ ▓▓ ▓▓ ▓▓ ▓▓ ▓▓ ▓▓ ▓▓ ▓▓ ▓▓ ▓▓ ▓▓ ▓▓ ▓▓ ▓▓
Sun 29 ▓▓ ░░    ░░ ▓▓ ▓▓ ▓▓ ▓▓ ▓▓ ▓▓ ▓▓ ▓▓ ▓▓ ▓▓ ▓▓ ▓▓ ▓▓ ▓▓ ▓▓ ▓▓ ▓▓ ▓▓ ▓▓ ▓▓

       ·· 0   ░░ 1   ▓▓ 2
       * changes within the hour; the smaller number is shown
       blank: the clocks skip this hour

Budgets; of the active ones the smallest applies:
  20% = 2 of 10  Drifted, Underutilized  always
  0              Drifted, Underutilized  30 7 * * 1-5 (UTC) for 12h
  1              Drifted, Underutilized  @weekly (UTC) for 2h
No node is disrupted as Underutilized, whatever the budgets: `consolidationPolicy: WhenEmpty`.
Expiry (`expireAfter: 720h`), spot interruptions and deletions ignore budgets.
"""


def made(budgets: list[Plain], name: str = "chat", nodes: int = 10) -> Calendar:
    disruption: Plain = {"consolidationPolicy": "WhenEmpty", "consolidateAfter": "5m", "budgets": budgets}
    return build_calendar(
        {"metadata": {"name": name}, "spec": {"disruption": disruption}},
        nodes,
        "Europe/Berlin",
        date(2026, 3, 29),
    )


def test_a_week_is_drawn_in_79_columns() -> None:
    found = render_text(made(BUDGETS), colour=False)
    assert found == EXPECTED
    assert all(len(line) <= 79 for line in found.splitlines()[:-2])


def test_colour_changes_nothing_but_the_colour() -> None:
    coloured = render_text(made(BUDGETS), colour=True)
    assert re.sub(r"\x1b\[[0-9;]*m", "", coloured) == EXPECTED
    assert coloured.count("\x1b[0m") == coloured.count("\x1b[38;5;") > 150


def test_many_numbers_get_letters() -> None:
    budgets: list[Plain] = [
        {"nodes": str(hour), "schedule": f"0 {hour} * * *", "duration": "1h"} for hour in range(24)
    ]
    found = render_text(made(budgets, nodes=200), colour=False)
    assert "·· 0   aa 1   ab 2   ac 3" in found


def test_a_pool_without_budgets_is_unbounded() -> None:
    found = render_text(made([]), colour=False)
    assert "Empty, Drifted, Underutilized: 10 (all) in every hour of the week" in found
    assert "all nodes can be disrupted at once" in found


def test_what_a_file_says_can_not_steer_the_terminal() -> None:
    odd: Plain = {"nodes": "1", "schedule": "\x1b[31m 0 0 * *", "duration": "1h"}
    assert "\x1b" not in render_text(made([odd], name="a\x1b]0;b"), colour=False)


def test_the_json_has_a_list_of_hours_for_each_day() -> None:
    found = to_json(made(BUDGETS))
    assert json.loads(json.dumps(found)) == found
    assert isinstance(found, dict)
    assert (found["timezone"], found["nodes"], found["weekOf"]) == ("Europe/Berlin", 10, "2026-03-23")
    reasons = found["reasons"]
    assert isinstance(reasons, dict)
    assert set(reasons) == {"Empty", "Drifted", "Underutilized"}
    drifted = reasons["Drifted"]
    assert isinstance(drifted, list)
    assert [len(row) for row in drifted if isinstance(row, list)] == [24] * 7
    assert drifted[6] == [2, 1, None, 1, *[2] * 20]


def test_the_picture_names_itself_and_each_hour() -> None:
    found = render_svg(made(BUDGETS, name="<chat> & co"))
    root = ET.fromstring(found)  # noqa: S314 - we wrote it ourselves a line above
    assert found == render_svg(made(BUDGETS, name="<chat> & co"))
    assert root.attrib["role"] == "img"
    assert root.findtext(f"{SVG}title") == "NodePool <chat> & co: nodes that may be disrupted, by hour"
    assert "Drifted, Underutilized: from 0 to 2 nodes, none in 65 of 167 hours" in (
        root.findtext(f"{SVG}desc") or ""
    )
    hours = [group.findtext(f"{SVG}title") for group in root.iter(f"{SVG}g")]
    assert len(hours) == 2 * 167
    assert "Mon 23 Mar 08:00: 0 of 10, changes within the hour" in hours
    assert "Tue 24 Mar 03:00: 2 of 10" in hours
    assert {element.tag.removeprefix(SVG) for element in root.iter()} == {
        "svg",
        "title",
        "desc",
        "rect",
        "text",
        "g",
    }


def test_the_picture_holds_only_what_xml_can() -> None:
    odd: Plain = {"nodes": "1", "schedule": "\x1b[31m 0 0 \ud800 *", "duration": "1h"}
    ET.fromstring(render_svg(made([odd], name="a\x00b\ufffe")).encode())  # noqa: S314 - our own text
