# SPDX-License-Identifier: MIT
"""Opens a copy of a report in a browser, runs a script in it and prints what the script says:

    browser.py REPORT FOLDER [WIDTH] < SCRIPT

The script says it by say(TEXT); wait(CONDITION) waits until a function gives true. What goes wrong
in the page is said as `error: …`. FOLDER then has the screenshots light.png and dark.png of the
report as it opens.
"""
import html
import os
import re
import subprocess
import sys

BEFORE = """<script>
const said = [];
function say(text) { said.push(text); }
function sayError(event) { say("error: " + (event.message || event.reason || event.blockedURI)); }
addEventListener("error", sayError, true);
addEventListener("unhandledrejection", sayError);
document.addEventListener("securitypolicyviolation", sayError);
console.error = console.warn = (...words) => say("error: " + words.join(" "));
async function wait(condition) {
  for (let i = 0; i < 200 && !condition(); i++) await new Promise((done) => setTimeout(done, 10));
  if (!condition()) throw new Error("waited in vain for " + condition);
}
</script>
"""
AFTER = """<script>
(async () => {
  await wait(() => document.readyState === "complete");
%s
})().catch(sayError).finally(() => {
  const element = document.createElement("pre");
  element.id = "said";
  element.textContent = "[[" + said.join("\\n") + "\\n]]";
  document.body.replaceChildren(element);
});
</script>
"""


def browser(folder, page, width, *options):
    command = ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
               "--hide-scrollbars",
               "--disable-background-networking", "--no-first-run", f"--window-size={width},1800",
               "--user-data-dir=" + os.path.join(folder, "browser"),
               "--virtual-time-budget=20000", *options, "file://" + page]
    environment = {**os.environ, "HOME": folder}
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=200,
                          check=True).stdout


def main():
    report, folder = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    width = sys.argv[3] if len(sys.argv) > 3 else 1280
    os.makedirs(folder, exist_ok=True)
    with open(report) as file:
        text = file.read()
    test = os.path.join(folder, "test.html")
    with open(test, "w") as file:
        head, rest = text.split("<head>", 1)
        rest = rest.replace("</body>", AFTER % sys.stdin.read() + "</body>")
        file.write(head + "<head>" + BEFORE + rest)
    dump = browser(folder, test, width, "--dump-dom")
    said = re.search(r"\[\[(.*)\]\]", dump, re.DOTALL)
    print(html.unescape(said[1]) if said else "error: the script did not end:\n" + dump[-2000:])
    # 0 is dark, 1 is light.
    for name, scheme in (("light", 1), ("dark", 0)):
        browser(folder, report, width, f"--blink-settings=preferredColorScheme={scheme}",
                "--screenshot=" + os.path.join(folder, name + ".png"))


main()
