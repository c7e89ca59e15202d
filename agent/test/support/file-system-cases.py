"""Cases of system calls on an empty directory, named as in pjdfstest. Prints a JSON object: the outcomes of the steps of each case."""

import errno
import json
import os
import stat
import sys

root = sys.argv[1]
os.umask(0)
cases = {}


def case(function):
    cases[function.__name__] = function
    return function


def permission_case(function):
    """A case that root does not have: root may do everything."""
    return case(function) if os.getuid() != 0 else function


def step(call, *args, **options):
    """The name of the error, or what the call returns if that can be compared."""
    try:
        result = call(*args, **options)
    except OSError as error:
        return errno.errorcode.get(error.errno, str(error.errno))
    if isinstance(result, bytes):
        return result.decode("latin-1")
    return result if isinstance(result, (str, int)) and not isinstance(result, bool) else "ok"


def opened(path, flags, mode=0o644):
    os.close(os.open(path, flags, mode))


def made(path, text=b""):
    with open(path, "wb") as file:
        file.write(text)


def read(path):
    with open(path, "rb") as file:
        return file.read()


def kind(path):
    entry = os.lstat(path)
    shape = {stat.S_IFREG: "file", stat.S_IFDIR: "directory", stat.S_IFLNK: "link"}[stat.S_IFMT(entry.st_mode)]
    size = f" {entry.st_size}" if shape == "file" else ""
    return f"{shape} {oct(entry.st_mode & 0o7777)}{size}" if shape != "link" else f"link {os.readlink(path)}"


long_name = "x" * 255
too_long_name = "x" * 256


def long_path():
    """A path of more than PATH_MAX bytes."""
    return "/".join(["d" * 250] * 17)


def loops():
    os.symlink("loop_b", "loop_a")
    os.symlink("loop_a", "loop_b")


def paths(call):
    """The outcomes of a call for the paths that no call takes."""
    made("file")
    loops()
    return [
        step(call, "none/below"),
        step(call, "file/below"),
        step(call, too_long_name),
        step(call, "none/" + too_long_name),
        step(call, long_path()),
        step(call, "loop_a/below"),
        step(call, ""),
    ]


@case
def open_00():
    outcomes = []
    for index, mode in enumerate([0o755, 0o151, 0o000, 0o644, 0o4755]):
        outcomes += [step(opened, f"f{index}", os.O_CREAT | os.O_WRONLY, mode), kind(f"f{index}")]
    os.umask(0o077)
    outcomes += [step(opened, "masked", os.O_CREAT | os.O_RDWR, 0o755), kind("masked")]
    os.umask(0)
    made("old", b"12345")
    outcomes += [step(opened, "old", os.O_CREAT | os.O_WRONLY, 0o600), kind("old")]
    outcomes += [step(opened, "old", os.O_WRONLY | os.O_TRUNC), kind("old")]
    made("old", b"12345")
    outcomes += [step(opened, "old", os.O_CREAT | os.O_RDWR | os.O_TRUNC, 0o600), kind("old")]
    return outcomes


@case
def open_names():
    outcomes = [step(opened, long_name, os.O_CREAT | os.O_WRONLY), kind(long_name)]
    for flags in [os.O_RDONLY, os.O_CREAT | os.O_WRONLY]:
        outcomes += paths(lambda path: opened(path, flags)) if flags == os.O_RDONLY else [
            step(opened, "none/below", flags),
            step(opened, "file/below", flags),
            step(opened, too_long_name, flags),
            step(opened, "loop_a", flags),
            step(opened, "loop_a/below", flags),
            step(opened, "file/", flags),
            step(opened, "new/", flags),
        ]
    return outcomes


@case
def open_13():
    os.mkdir("d")
    flags = [os.O_RDONLY, os.O_WRONLY, os.O_RDWR, os.O_RDONLY | os.O_TRUNC, os.O_WRONLY | os.O_TRUNC, os.O_CREAT, os.O_CREAT | os.O_WRONLY]
    return [step(opened, "d", flag) for flag in flags] + [step(opened, "d", os.O_RDONLY | os.O_DIRECTORY)]


@case
def open_16():
    made("file")
    os.symlink("file", "link")
    os.symlink("none", "dangling")
    return [
        step(opened, "link", os.O_RDONLY | os.O_NOFOLLOW),
        step(opened, "link", os.O_CREAT | os.O_RDONLY | os.O_NOFOLLOW),
        step(opened, "file", os.O_RDONLY | os.O_NOFOLLOW),
        step(opened, "file", os.O_RDONLY | os.O_DIRECTORY),
        step(opened, "dangling", os.O_RDONLY),
        step(opened, "dangling", os.O_CREAT | os.O_WRONLY),
        kind("none"),
    ]


@case
def open_22():
    made("file")
    os.mkdir("d")
    os.symlink("none", "dangling")
    os.symlink("file", "link")
    return [step(opened, name, os.O_CREAT | os.O_EXCL | os.O_RDWR) for name in ["file", "d", "dangling", "link", "new", "new"]]


@case
def open_offsets():
    fd = os.open("file", os.O_CREAT | os.O_RDWR)
    outcomes = [
        step(os.pwrite, fd, b"end", 10),
        step(os.pread, fd, 20, 0),
        step(os.pread, fd, 5, 13),
        step(os.pread, fd, 5, 100),
        step(os.pwrite, fd, b"", 5),
        step(os.lseek, fd, -1, os.SEEK_SET),
        step(os.lseek, fd, 0, os.SEEK_END),
        step(os.pwrite, fd, b"x", 2**63 - 1),
    ]
    os.close(fd)
    reading = os.open("file", os.O_RDONLY)
    writing = os.open("file", os.O_WRONLY)
    appending = os.open("file", os.O_WRONLY | os.O_APPEND)
    outcomes += [step(os.write, reading, b"x"), step(os.read, writing, 1), step(os.ftruncate, reading, 1)]
    outcomes += [step(os.write, appending, b"!"), step(os.fsync, appending)]
    for fd in [reading, writing, appending]:
        os.close(fd)
    return outcomes + [step(os.read, reading, 1), read("file").decode("latin-1")]


@case
def mkdir_00():
    outcomes = []
    for index, mode in enumerate([0o755, 0o151, 0o700, 0o1777]):
        outcomes += [step(os.mkdir, f"d{index}", mode), kind(f"d{index}")]
    os.umask(0o077)
    outcomes += [step(os.mkdir, "masked", 0o755), kind("masked")]
    os.umask(0)
    return outcomes + [step(os.mkdir, "slash/"), step(os.mkdir, long_name), kind(long_name)]


@case
def mkdir_names():
    return paths(os.mkdir) + [step(os.mkdir, name) for name in ["loop_a", ".", "..", "none/."]]


@case
def mkdir_10():
    made("file")
    os.mkdir("d")
    os.symlink("d", "link")
    os.symlink("none", "dangling")
    return [step(os.mkdir, name) for name in ["file", "d", "link", "dangling", "d/"]]


@case
def rmdir_00():
    os.mkdir("d")
    os.mkdir("slash")
    return [step(os.rmdir, "d"), step(kind, "d"), step(os.rmdir, "slash/"), step(os.rmdir, "slash")]


@case
def rmdir_names():
    outcomes = paths(os.rmdir)
    os.mkdir("d")
    os.symlink("d", "link")
    return outcomes + [step(os.rmdir, name) for name in ["file", "link", "loop_a", "d/.", "d/..", "."]]


@case
def rmdir_06():
    for name in ["a", "b", "c"]:
        os.mkdir(name)
    made("a/file")
    os.mkdir("b/d")
    os.symlink("x", "c/link")
    return [step(os.rmdir, name) for name in ["a", "b", "c"]] + [sorted(os.listdir("."))]


@case
def unlink_00():
    made("file")
    os.symlink("file", "link")
    os.symlink("none", "dangling")
    outcomes = [step(os.unlink, name) for name in ["link", "dangling", "file", "file"]]
    return outcomes + [os.listdir(".")]


@case
def unlink_names():
    outcomes = paths(os.unlink)
    os.mkdir("d")
    os.symlink("d", "link")
    return outcomes + [step(os.unlink, name) for name in ["d", "d/", "link/", "file/", "loop_a", "loop_a"]]


@case
def unlink_14():
    made("file", b"12345")
    fd = os.open("file", os.O_RDWR)
    outcomes = [step(os.unlink, "file"), step(kind, "file"), step(os.pread, fd, 5, 0), step(os.pwrite, fd, b"6", 5)]
    outcomes += [step(os.pread, fd, 10, 0), step(os.ftruncate, fd, 2), step(lambda: os.fstat(fd).st_size)]
    made("file", b"other")
    outcomes += [step(os.pread, fd, 10, 0), step(os.close, fd), read("file").decode()]
    return outcomes


@case
def rename_00():
    made("a", b"a")
    made("b", b"bb")
    os.mkdir("d")
    os.symlink("a", "link")
    outcomes = [step(os.rename, "a", "new"), step(kind, "a"), kind("new")]
    outcomes += [step(os.rename, "new", "b"), kind("b"), step(kind, "new")]
    outcomes += [step(os.rename, "d", "e"), kind("e"), step(os.rename, "link", "link2"), kind("link2")]
    outcomes += [step(os.rename, "b", "b"), kind("b"), step(os.rename, "b", "link2"), kind("link2")]
    outcomes += [step(os.rename, "link2", "e/inside"), os.listdir("e")]
    return outcomes


@case
def rename_names():
    made("source", b"1")
    outcomes = paths(lambda path: os.rename(path, "target"))
    outcomes += [
        step(os.rename, "source", path)
        for path in ["none/below", "file/below", too_long_name, long_path(), "loop_a/below", "", "target/"]
    ]
    return outcomes + [step(os.rename, "source", long_name), kind(long_name)]


@case
def rename_13():
    made("file")
    os.mkdir("d")
    os.symlink("d", "link")
    return [
        step(os.rename, "d", "file"),
        step(os.rename, "file", "d"),
        step(os.rename, "d", "link"),
        step(os.rename, "link", "d"),
        step(os.rename, "file/", "new"),
        step(os.rename, "file", "new/"),
        step(os.rename, "d/", "e/"),
        step(kind, "e"),
    ]


@case
def rename_18():
    os.makedirs("d/e/f")
    return [
        step(os.rename, "d", "d/x"),
        step(os.rename, "d", "d/e"),
        step(os.rename, "d", "d/e/f/x"),
        step(os.rename, "d/e", "d"),
        step(os.rename, "d/.", "x"),
        step(os.rename, "d/..", "x"),
        step(os.rename, "d", "x/."),
        step(os.rename, "d", "d"),
        sorted(os.listdir("d")),
    ]


@case
def rename_20():
    for name in ["from", "empty", "full"]:
        os.mkdir(name)
    made("from/a", b"a")
    made("full/b", b"b")
    outcomes = [step(os.rename, "from", "full"), step(os.rename, "from", "empty"), os.listdir("empty"), step(kind, "from")]
    os.mkdir("deep")
    os.mkdir("deep/d")
    return outcomes + [step(os.rename, "empty", "deep"), sorted(os.listdir("."))]


@case
def rename_open():
    made("file", b"12345")
    made("other", b"other")
    fd = os.open("other", os.O_RDWR)
    writing = os.open("file", os.O_RDWR)
    outcomes = [step(os.pwrite, writing, b"6", 5), step(os.rename, "file", "other"), kind("other")]
    outcomes += [step(os.pread, fd, 9, 0), step(os.pwrite, writing, b"7", 6), step(os.fsync, writing)]
    os.close(fd)
    os.close(writing)
    return outcomes + [read("other").decode(), os.listdir(".")]


@case
def symlink_00():
    outcomes = [step(os.symlink, "target", "a"), kind("a"), step(os.symlink, "x" * 1023, "long"), len(os.readlink("long"))]
    made("file", b"1")
    os.symlink("file", "link")
    outcomes += [read("link").decode(), step(os.symlink, "", "empty"), step(os.symlink, "x" * 4096, "too_long")]
    return outcomes + [step(os.readlink, "file"), step(os.readlink, "none"), step(os.readlink, "file/x")]


@case
def symlink_names():
    outcomes = paths(lambda path: os.symlink("target", path))
    os.mkdir("d")
    return outcomes + [step(os.symlink, "target", name) for name in ["file", "d", "loop_a", "slash/"]]


@case
def truncate_00():
    made("file", b"12345")
    outcomes = [step(os.truncate, "file", 3), read("file").decode(), step(os.truncate, "file", 6), repr(read("file"))]
    outcomes += [step(os.truncate, "file", 0), kind("file"), step(os.truncate, "file", 2**20), kind("file")]
    os.symlink("file", "link")
    return outcomes + [step(os.truncate, "link", 1), kind("file")]


@case
def truncate_names():
    outcomes = paths(lambda path: os.truncate(path, 1))
    os.mkdir("d")
    os.symlink("none", "dangling")
    return outcomes + [step(os.truncate, name, 1) for name in ["d", "loop_a", "dangling", "file/"]]


@case
def truncate_12():
    made("file", b"12345")
    return [step(os.truncate, "file", -1), step(os.truncate, "file", -(2**63)), kind("file")]


@case
def ftruncate_00():
    made("file", b"12345")
    fd = os.open("file", os.O_RDWR)
    outcomes = [step(os.ftruncate, fd, 3), step(lambda: os.fstat(fd).st_size), step(os.ftruncate, fd, 6), step(os.pread, fd, 9, 0)]
    outcomes += [step(os.ftruncate, fd, -1)]
    outcomes += [step(lambda: os.fstat(fd).st_size), step(os.close, fd), kind("file")]
    directory = os.open(".", os.O_RDONLY)
    outcomes.append(step(os.ftruncate, directory, 1))
    os.close(directory)
    return outcomes


@case
def too_large():
    made("file", b"12345")
    outcomes = [step(os.truncate, "file", size) for size in [2**60, 2**63 - 1, 2**39 + 1]]
    fd = os.open("file", os.O_RDWR)
    outcomes += [step(os.ftruncate, fd, size) for size in [2**60, 2**63 - 1, 2**39 + 1]]
    outcomes += [step(os.pwrite, fd, b"x", offset) for offset in [2**60, 2**39]]
    outcomes += [step(os.pwrite, fd, b"6", 5), step(os.ftruncate, fd, 2**60), step(os.pwrite, fd, b"x", 2**60), step(os.fsync, fd)]
    return outcomes + [step(os.pread, fd, 10, 0), step(os.close, fd), kind("file")]


@case
def chmod_00():
    made("file")
    os.mkdir("d")
    os.symlink("file", "link")
    os.symlink("none", "dangling")
    outcomes = []
    for mode in [0o111, 0o600, 0o4755, 0o2755, 0o1644, 0o644]:
        outcomes += [step(os.chmod, "file", mode), kind("file")]
    for mode in [0o700, 0o1777, 0o2755]:
        outcomes += [step(os.chmod, "d", mode), kind("d")]
    outcomes += [step(os.chmod, "link", 0o600), kind("file"), step(os.chmod, "dangling", 0o600)]
    fd = os.open("file", os.O_RDWR)
    outcomes += [step(os.fchmod, fd, 0o640), kind("file"), step(os.write, fd, b"x"), step(os.fchmod, fd, 0o400), kind("file")]
    os.close(fd)
    return outcomes + [kind("file")]


@case
def chmod_names():
    return paths(lambda path: os.chmod(path, 0o600)) + [step(os.chmod, "loop_a", 0o600), step(os.chmod, "file/", 0o600)]


@case
def utimensat_00():
    made("file")
    os.mkdir("d")
    os.symlink("file", "link")
    second = 1_000_000_000
    outcomes = []
    for name in ["file", "d"]:
        outcomes += [step(os.utime, name, ns=(1000 * second, 2000 * second)), os.stat(name).st_mtime_ns // second]
    outcomes += [step(os.utime, "link", ns=(3000 * second, 4000 * second)), os.stat("file").st_mtime_ns // second]
    outcomes += [step(os.utime, "link", ns=(5000 * second, 6000 * second), follow_symlinks=False)]
    outcomes += [os.lstat("link").st_mtime_ns // second, os.stat("file").st_mtime_ns // second]
    outcomes += [step(os.utime, "file", ns=(2**33 * second, 2**33 * second)), os.stat("file").st_mtime_ns // second]
    fd = os.open("file", os.O_RDWR)
    os.write(fd, b"x")
    outcomes += [step(os.utime, fd, ns=(7000 * second, 8000 * second)), os.fstat(fd).st_mtime_ns // second]
    os.close(fd)
    return outcomes + [os.stat("file").st_mtime_ns // second]


@case
def utimensat_names():
    return paths(lambda path: os.utime(path, (1, 1))) + [step(os.utime, "loop_a", (1, 1)), step(os.utime, "file/", (1, 1))]


@case
def stat_names():
    return paths(os.stat) + [step(os.stat, "loop_a"), step(os.stat, "file/"), step(os.lstat, "loop_a"), step(os.listdir, "file")]


@case
def link_00():
    made("file")
    os.mkdir("d")
    return [step(os.link, "file", "second"), step(os.link, "none", "second"), step(os.link, "d", "second"), step(os.link, "file", "file")]


@case
def mkfifo_00():
    return [step(os.mkfifo, "pipe"), step(os.mkfifo, "none/pipe"), step(os.mkfifo, too_long_name)]


@case
def mknod_00():
    made("file")
    outcomes = [step(os.mknod, "made", 0o644 | stat.S_IFREG), step(kind, "made"), step(os.mknod, "file", 0o644 | stat.S_IFREG)]
    return outcomes + [step(os.mknod, "socket", 0o644 | stat.S_IFSOCK)]


@case
def chown_00():
    made("file")
    own = (os.getuid(), os.getgid())
    return [step(os.chown, "file", *own), step(os.chown, "file", -1, -1), step(os.chown, "none", *own), step(os.chown, "file", 12345, 12345)]


access_flags = [os.O_RDONLY, os.O_WRONLY, os.O_RDWR, os.O_RDONLY | os.O_TRUNC, os.O_WRONLY | os.O_TRUNC]


@permission_case
def open_06():
    outcomes = []
    for mode in [0o000, 0o200, 0o400, 0o600, 0o070, 0o007, 0o477]:
        for flags in access_flags:
            made("file", b"12345")
            os.chmod("file", mode)
            outcomes += [oct(mode), flags, step(opened, "file", flags), kind("file")]
            os.unlink("file")
    return outcomes


@permission_case
def open_created():
    """A new file is open as asked, whatever its mode is."""
    outcomes = []
    for mode in [0o000, 0o200, 0o400, 0o444]:
        fd = os.open("file", os.O_CREAT | os.O_RDWR, mode)
        outcomes += [step(os.pwrite, fd, b"12345", 0), step(os.fsync, fd), step(os.pwrite, fd, b"6", 5), step(os.pread, fd, 9, 0)]
        outcomes += [step(os.close, fd), kind("file"), step(opened, "file", os.O_RDWR), step(read, "file")]
        os.chmod("file", 0o600)
        outcomes += [read("file").decode()]
        os.unlink("file")
    return outcomes


@permission_case
def open_kept():
    """A file that is open stays so when its permissions are taken away."""
    made("file", b"12345")
    fd = os.open("file", os.O_RDWR)
    outcomes = [step(os.fchmod, fd, 0), step(os.pread, fd, 9, 0), step(os.pwrite, fd, b"6", 5), step(os.fsync, fd)]
    outcomes += [step(os.pwrite, fd, b"7", 6), step(os.ftruncate, fd, 6), step(os.pread, fd, 9, 0), step(os.close, fd), kind("file")]
    outcomes += [step(read, "file"), step(os.chmod, "file", 0o600), read("file").decode()]
    return outcomes


@permission_case
def directory_read_only():
    os.mkdir("d")
    os.mkdir("d/e")
    made("d/file", b"12345")
    made("outside", b"1")
    os.chmod("d", 0o555)
    outcomes = [step(opened, "d/file", flags) for flags in access_flags] + [kind("d/file")]
    outcomes += [step(opened, "d/new", os.O_CREAT | os.O_WRONLY), step(opened, "d/file", os.O_CREAT | os.O_RDWR)]
    outcomes += [step(opened, "d/file", os.O_CREAT | os.O_EXCL | os.O_RDWR), step(os.unlink, "d/file"), step(os.unlink, "d/none")]
    outcomes += [step(os.rmdir, "d/e"), step(os.mkdir, "d/new"), step(os.symlink, "x", "d/new"), step(os.rename, "d/file", "d/new")]
    outcomes += [step(os.rename, "d/file", "moved"), step(os.rename, "outside", "d/new"), step(os.rename, "outside", "d/file")]
    outcomes += [step(os.mknod, "d/new", 0o644 | stat.S_IFREG), step(os.mkfifo, "d/new"), step(os.rename, "d/e", "moved")]
    outcomes += [step(os.chmod, "d/file", 0o600), step(os.utime, "d/file", (1, 1)), step(os.truncate, "d/file", 3), kind("d/file")]
    outcomes += [sorted(os.listdir("d")), step(os.chmod, "d", 0o755), step(os.unlink, "d/file")]
    return outcomes


@permission_case
def directory_written_in_read_only():
    """A file is written, read and closed in a directory that takes no new names, or is closed altogether."""
    os.mkdir("d")
    outcomes = []
    for mode in [0o555, 0o311, 0o600, 0o000]:
        made("d/file", b"12345")
        fd = os.open("d/file", os.O_RDWR)
        new = os.open("d/new", os.O_CREAT | os.O_RDWR)
        outcomes += [step(os.pwrite, fd, b"5", 4), step(os.chmod, "d", mode), step(os.pwrite, new, b"new", 0), step(os.close, new)]
        outcomes += [step(os.pwrite, fd, b"6", 5), step(os.fsync, fd), step(os.pwrite, fd, b"7", 6), step(os.close, fd)]
        outcomes += [kind("d"), step(os.truncate, "d/file", 8), kind("d"), step(os.chmod, "d", 0o755)]
        outcomes += [read("d/file").decode(), read("d/new").decode(), step(os.unlink, "d/new"), sorted(os.listdir("d"))]
    return outcomes


@permission_case
def directory_moved():
    """A directory gets another parent: its own `..` changes, which needs the permission to write to it."""
    os.mkdir("d")
    os.mkdir("to")
    os.chmod("d", 0o555)
    outcomes = [step(os.rename, "d", "e"), step(os.rename, "e", "to/e"), step(os.chmod, "e", 0o755), step(os.rename, "e", "to/e")]
    return outcomes + [sorted(os.listdir("to"))]


@permission_case
def directory_not_searched():
    os.mkdir("d")
    os.mkdir("d/e")
    made("d/file", b"12345")
    made("outside", b"1")
    outcomes = []
    for mode in [0o600, 0o400, 0o200, 0o000]:
        os.chmod("d", mode)
        outcomes += [step(opened, "d/file", os.O_RDONLY), step(opened, "d/new", os.O_CREAT | os.O_WRONLY), step(os.stat, "d/file")]
        outcomes += [step(os.lstat, "d/none"), step(os.unlink, "d/file"), step(os.rmdir, "d/e"), step(os.mkdir, "d/new")]
        outcomes += [step(os.symlink, "x", "d/new"), step(os.readlink, "d/file"), step(os.rename, "d/file", "moved")]
        outcomes += [step(os.rename, "outside", "d/new"), step(os.chmod, "d/file", 0o600), step(os.utime, "d/file", (1, 1))]
        outcomes += [step(os.truncate, "d/file", 3), step(os.chdir, "d"), step(lambda: ",".join(sorted(os.listdir("d"))))]
        outcomes += [step(os.access, "d/file", os.R_OK), step(os.access, "d", os.X_OK)]
    os.chmod("d", 0o711)
    outcomes += [read("d/file").decode(), step(os.listdir, "d"), step(os.chmod, "d", 0o311), step(os.listdir, "d"), step(opened, "d/file", os.O_RDONLY)]
    outcomes += [step(os.chmod, "d", 0o755), read("d/file").decode()]
    return outcomes


@permission_case
def access_00():
    outcomes = []
    for mode in [0o000, 0o100, 0o200, 0o400, 0o700, 0o077]:
        made("file")
        os.chmod("file", mode)
        outcomes += [os.access("file", flags) * 1 for flags in [os.F_OK, os.R_OK, os.W_OK, os.X_OK, os.R_OK | os.W_OK]]
        os.unlink("file")
    return outcomes


@permission_case
def utimensat_06():
    """The owner may set any time of a file that it may not write."""
    made("file", b"12345")
    os.chmod("file", 0o000)
    outcomes = [step(os.utime, "file", (1000, 2000)), int(os.stat("file").st_mtime), step(os.utime, "file", None), step(os.chmod, "file", 0o4000)]
    return outcomes + [kind("file"), step(os.unlink, "file")]


@permission_case
def chown_07():
    made("file")
    os.chmod("file", 0o6755)
    outcomes = [step(os.chown, "file", 0, -1), step(os.chown, "file", -1, 0), step(os.chown, "file", 0, 0), step(os.chown, "file", os.getuid(), os.getgid())]
    return outcomes + [step(os.unlink, "file")]


@permission_case
def write_set_id():
    """A write takes the set-id bits away."""
    made("file", b"12345")
    os.chmod("file", 0o6755)
    fd = os.open("file", os.O_WRONLY)
    outcomes = [step(os.pwrite, fd, b"6", 5), step(os.close, fd), kind("file")]
    os.chmod("file", 0o6755)
    return outcomes + [step(os.truncate, "file", 3), kind("file")]


@permission_case
def execute_00():
    made("file", b"#!/bin/sh\nexit 7\n")
    outcomes = [step(lambda: os.spawnv(os.P_WAIT, "./file", ["file"]))]
    os.chmod("file", 0o755)
    return outcomes + [step(lambda: os.spawnv(os.P_WAIT, "./file", ["file"]))]


outcomes = {}
for name, run in cases.items():
    directory = os.path.join(root, name)
    os.mkdir(directory)
    os.chdir(directory)
    try:
        outcomes[name] = run()
    except OSError as error:
        outcomes[name] = [f"ended by {error}"]
    os.umask(0)
print(json.dumps(outcomes))
