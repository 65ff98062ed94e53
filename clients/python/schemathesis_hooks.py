"""What Schemathesis is told beyond the document: how a payroll filter and an order are written, and that
somebody counts what was answered."""

import atexit
import json
import os
from collections import Counter, defaultdict

import schemathesis
from hypothesis import strategies as st

OPERATORS = st.sampled_from(["eq", "ne", "gt", "ge", "lt", "le"])
TEXT_FIELDS = st.sampled_from(["companyName", "identifierNumber"])
FIELDS = st.sampled_from(["companyCode", "companyName", "identifierNumber", "lastUpdate"])
TEXT = st.text(st.characters(codec="utf-8", exclude_categories=["Cc"]), max_size=12).map(
    lambda text: "'" + text.replace("'", "''") + "'"
)
MOMENT = st.datetimes().map(lambda moment: moment.strftime("%Y-%m-%dT%H:%M:%SZ").zfill(20)) | st.dates().map(str)
CONDITION = (
    st.tuples(st.just("companyCode"), OPERATORS, st.integers(0, 2**53 - 1).map(str)).map(" ".join)
    | st.tuples(TEXT_FIELDS, OPERATORS, TEXT).map(" ".join)
    | st.tuples(st.just("lastUpdate"), OPERATORS, MOMENT).map(" ".join)
    | st.tuples(st.sampled_from(["contains", "startswith", "endswith"]), TEXT_FIELDS, TEXT).map(
        lambda parts: f"{parts[0]}({parts[1]},{parts[2]})"
    )
)
FILTER = st.recursive(
    CONDITION,
    lambda inner: st.tuples(inner, st.sampled_from([" and ", " or "]), inner).map("".join)
    | inner.map(lambda one: f"not ({one})")
    | inner.map(lambda one: f"({one})"),
    max_leaves=6,
)
ORDER = st.lists(
    st.tuples(FIELDS, st.sampled_from(["", " asc", " desc"])).map("".join), min_size=1, max_size=4
).map(",".join)

schemathesis.openapi.format("payroll-filter", FILTER)
schemathesis.openapi.format("payroll-order", ORDER)

answered = defaultdict(Counter)


@schemathesis.hook
def after_call(context, case, response):
    answered[case.operation.label][str(response.status_code)] += 1


@atexit.register
def tell():
    path = os.environ.get("ALDABA_TALLY")
    if path and answered:
        with open(path, "w", encoding="utf-8") as file:
            json.dump(answered, file)
