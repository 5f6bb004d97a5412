# SPDX-License-Identifier: MIT
"""clean_root.py ROOT [PACKAGE…] FILE.deb…: makes a folder that has those packages and what the
.deb files depend on, as this machine has them installed, with dpkg's records of that, and nothing
else. What the files need and this machine lacks is missing there, too: dpkg refuses them then."""
import os
import re
import subprocess
import sys

root, *rest = sys.argv[1:]
debs = [f for f in rest if f.endswith(".deb")]
wanted = [f for f in rest if not f.endswith(".deb")]
info = "/var/lib/dpkg/info"


def fields(stanza):
    return dict(re.findall(r"^([\w-]+): (.*)$", stanza, re.M))


installed, provided = {}, {}
with open("/var/lib/dpkg/status") as file:
    for stanza in file.read().split("\n\n"):
        field = fields(stanza)
        if "ok installed" in field.get("Status", ""):
            installed[field["Package"]] = (field, stanza)
            for name in re.findall(r"([^\s,(]+)(?: \([^)]*\))?(?:,|$)", field.get("Provides", "")):
                provided.setdefault(name, field["Package"])


def needs(field):
    for name in ("Pre-Depends", "Depends"):
        for group in filter(None, field.get(name, "").split(",")):
            for choice in group.split("|"):
                package = re.match(r"\s*([^\s:(]+)", choice).group(1)
                package = package if package in installed else provided.get(package)
                if package:
                    yield package
                    break


# A shell with its tools, dpkg, and who runs ldconfig.
todo = ["bash", "coreutils", "dash", "diffutils", "dpkg", "findutils", "libc-bin", "sed"] + wanted
for deb in debs:
    todo += needs(fields(subprocess.check_output(["dpkg-deb", "-f", deb], text=True)))
closure = set()
while todo:
    package = todo.pop()
    if package not in closure:
        closure.add(package)
        todo += needs(installed[package][0])

for folder in ("bin", "sbin", "lib", "lib64"):  # merged into /usr, as Debian 12 is
    if os.path.islink("/" + folder):
        os.makedirs(os.path.join(root, "usr", folder))
        os.symlink("usr/" + folder, os.path.join(root, folder))
for folder in ("dev", "proc", "tmp", "var/lib/dpkg/info", "var/lib/dpkg/updates"):
    os.makedirs(os.path.join(root, folder))

files, stanzas = set(), []
for package in closure:
    field, stanza = installed[package]
    stanzas.append(stanza)
    for name in (package, "%s:%s" % (package, field["Architecture"])):
        for kind in ("list", "postinst", "postrm", "triggers", "shlibs", "md5sums"):
            path = "%s/%s.%s" % (info, name, kind)
            if os.path.exists(path):
                files.add(path)
                if kind == "list":
                    with open(path) as file:
                        files.update(f for f in file.read().split("\n")
                                     if os.path.islink(f) or os.path.isfile(f))
files.update(["/etc/passwd", "/etc/group", info + "/format", "/var/lib/dpkg/triggers/File"])
listed = "\0".join(sorted(f for f in files if os.path.lexists(f)))
packed = subprocess.Popen(["tar", "-C", "/", "-cf", "-", "--null", "--no-recursion", "-P", "-T", "-"],
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE)
unpacked = subprocess.Popen(["tar", "-C", root, "-xf", "-", "--no-same-owner",
                             "--keep-directory-symlink"], stdin=packed.stdout, stderr=subprocess.DEVNULL)
packed.stdin.write(listed.encode())
packed.stdin.close()
if packed.wait() or unpacked.wait():
    sys.exit("the files of the packages cannot be copied")
with open(os.path.join(root, "var/lib/dpkg/status"), "w") as file:
    file.write("\n\n".join(stanzas) + "\n\n")
