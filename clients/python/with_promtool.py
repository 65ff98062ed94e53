"""Prometheus' own linter accepts `/metrics`, after the other clients have filled it, in the format that it parses. The
OpenMetrics format is served to a scraper that asks for it."""

import os
import subprocess

import requests

from pages import check, done, world

promtool = os.environ["ALDABA_TEST_PROMTOOL"]
url = world()["dev"]["operator_url"] + "/metrics"

answer = requests.get(url, headers={"Accept": "*/*"}, timeout=10)
check("the text format", answer.headers["Content-Type"] == "text/plain; version=0.0.4; charset=utf-8", answer.headers)
for name in ("build_info", "http_requests_total", "deliveries_total", "store_operation_duration_seconds_bucket"):
    check(name, f"\naldaba_{name}" in answer.text, answer.text)
linted = subprocess.run([promtool, "check", "metrics"], input=answer.content, capture_output=True, timeout=30)
said = (linted.stdout + linted.stderr).decode()
check("promtool check metrics", linted.returncode == 0 and said == "", f"{linted.returncode}: {said}")

broken = subprocess.run([promtool, "check", "metrics"], input=b"# TYPE x counter\nx 1\n", capture_output=True, timeout=30)
check("promtool finds what is wrong", broken.returncode != 0, broken)

wanted = "application/openmetrics-text; version=1.0.0; charset=utf-8"
answer = requests.get(url, headers={"Accept": "application/openmetrics-text; version=1.0.0"}, timeout=10)
check("OpenMetrics", answer.headers["Content-Type"] == wanted, answer.headers)
check("the end of OpenMetrics", answer.text.endswith("# EOF\n"), answer.text[-100:])

version = subprocess.run([promtool, "--version"], capture_output=True, text=True).stdout.split()[2]
done(f"promtool {version}")
