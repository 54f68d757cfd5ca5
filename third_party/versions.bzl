"""Makes the versions of what apt provides an input of the build.

Headers under /usr are no inputs of Bazel's actions, so with a disk cache an
upgrade would reuse stale objects. The rule below writes the installed versions
of the listed packages, of the compiler and of CUDA; every target of
//third_party hands a digest of them to its users as a preprocessor define,
which is part of the action's key. CUDA's is no part of the digest: its
libraries are opened at run time, and nothing is compiled against its headers.
"""

def _output(ctx, command):
    result = ctx.execute(command)
    return result.stdout.strip() if result.return_code == 0 else ""

def _cuda_version(ctx):
    # /usr/local/cuda/version.json: {"cuda": {"name": ..., "version": "13.0.1"}
    path = ctx.path("/usr/local/cuda/version.json")
    if not path.exists:
        return "none"
    text = _output(ctx, ["cat", str(path)])
    after = text.partition("\"cuda\"")[2].partition("\"version\"")[2]
    parts = after.split("\"")
    return parts[1] if len(parts) > 1 else "unknown"

def _system_versions_impl(ctx):
    packages = []
    for line in ctx.read(ctx.attr.packages).split("\n"):
        name = line.partition("#")[0].strip()
        if name:
            packages.append(name)
    rows = []
    for name in sorted(packages):
        version = _output(ctx, ["dpkg-query", "-W", "-f=${Version}", name])
        rows.append((name, version or "missing"))
    compiler = ctx.os.environ.get("CC", "cc")
    rows.append(("compiler", _output(ctx, [compiler, "--version"]).split("\n")[0] or "missing"))

    ctx.file("compiled_against.txt", "".join(["%s %s\n" % row for row in rows]))
    digest = _output(ctx, ["sha256sum", "compiled_against.txt"])[:16]
    rows.append(("cuda", _cuda_version(ctx)))

    lock = "".join(["%s %s\n" % row for row in rows])
    header = [
        "#ifndef TILEWRIGHT_THIRD_PARTY_VERSIONS_H_",
        "#define TILEWRIGHT_THIRD_PARTY_VERSIONS_H_",
        "",
        "// Written by third_party/versions.bzl: what this build was made with.",
        "namespace tilewright {",
        "",
        "// One \"name version\" a line, sorted by name, then compiler and cuda.",
        "inline constexpr char kThirdPartyVersions[] =",
    ]
    header += ["    \"%s %s\\n\"" % (n, v.replace("\\", "").replace("\"", "")) for n, v in rows]
    header[-1] += ";"
    header += ["", "}  // namespace tilewright", "", "#endif  // TILEWRIGHT_THIRD_PARTY_VERSIONS_H_", ""]
    ctx.file("third_party/versions.h", "\n".join(header))
    ctx.file("versions.txt", lock)
    ctx.file("digest.bzl", "VERSIONS_DIGEST = \"%s\"\n" % (digest or fail("sha256sum failed")))
    ctx.file("BUILD", """
exports_files(["versions.txt"])

cc_library(
    name = "versions",
    hdrs = ["third_party/versions.h"],
    includes = ["."],
    visibility = ["//visibility:public"],
)
""")

system_versions = repository_rule(
    implementation = _system_versions_impl,
    doc = "Writes third_party/versions.h, versions.txt and digest.bzl.",
    attrs = {"packages": attr.label(allow_single_file = True)},
    environ = ["TILEWRIGHT_DPKG_STAMP", "CC"],
    local = True,
)
