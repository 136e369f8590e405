# SPDX-License-Identifier: BSD-3-Clause
"""What a wrapper says about the call it forwards, found from the names of its parameters.

find() answers None for calls without details, else a Detail: C lines for before and after the call,
what is passed on instead of some parameters, and the role a wrapper needs for the lines after it.
pmpi/details.h and details_comm.h declare what the lines use.
"""
import re

# Expressions of the bytes a process sends and receives in a collective, where "members" describes
# the communicator.  Arguments MPI ignores in a process must not be looked at there.
SEND, RECV = "crit_bytes(sendcount, sendtype)", "crit_bytes(recvcount, recvtype)"
DATA = "crit_bytes(count, datatype)"
PEERS, RANK = "members->peers", "members->rank"
ROOT, LEAF = "crit_is_root(members, root)", "crit_is_leaf(members, root)"
SENDS = "crit_bytes(CRIT_SUM(sendcounts, {}), sendtype)"
RECVS = "crit_bytes(CRIT_SUM(recvcounts, {}), recvtype)"
SENDS_W = "CRIT_SUM_BYTES(sendcounts, sendtypes, {})"
RECVS_W = "CRIT_SUM_BYTES(recvcounts, recvtypes, {})"
STATUS_BYTES = "crit_status_bytes(seen)"
IN, OUT = "crit_neighbours_in(comm)", "crit_neighbours_out(comm)"


def unless_in_place(usual, otherwise, buffer="sendbuf"):
    return f"{buffer} == MPI_IN_PLACE ? {otherwise} : {usual}"


COLLECTIVES = {  # sent, received
    "Barrier": ("0", "0"),
    "Bcast": (f"{ROOT} ? {DATA} : 0", f"!{ROOT} && {LEAF} ? {DATA} : 0"),
    "Gather": (f"!{LEAF} ? 0 : {unless_in_place(SEND, RECV)}", f"{ROOT} ? {RECV} * {PEERS} : 0"),
    "Gatherv": (f"!{LEAF} ? 0 : {unless_in_place(SEND, f'crit_bytes(recvcounts[{RANK}], recvtype)')}",
                f"{ROOT} ? {RECVS.format(PEERS)} : 0"),
    "Scatter": (f"{ROOT} ? {SEND} * {PEERS} : 0",
                f"!{LEAF} ? 0 : {unless_in_place(RECV, SEND, 'recvbuf')}"),
    "Scatterv": (f"{ROOT} ? {SENDS.format(PEERS)} : 0",
                 f"!{LEAF} ? 0 : "
                 f"{unless_in_place(RECV, f'crit_bytes(sendcounts[{RANK}], sendtype)', 'recvbuf')}"),
    "Allgather": (unless_in_place(SEND, RECV), f"{RECV} * {PEERS}"),
    "Allgatherv": (unless_in_place(SEND, f"crit_bytes(recvcounts[{RANK}], recvtype)"),
                   RECVS.format(PEERS)),
    "Alltoall": (f"({unless_in_place(SEND, RECV)}) * {PEERS}", f"{RECV} * {PEERS}"),
    "Alltoallv": (unless_in_place(SENDS.format(PEERS), RECVS.format(PEERS)), RECVS.format(PEERS)),
    "Alltoallw": (unless_in_place(SENDS_W.format(PEERS), RECVS_W.format(PEERS)),
                  RECVS_W.format(PEERS)),
    "Reduce": (f"{LEAF} ? {DATA} : 0", f"{ROOT} ? {DATA} : 0"),
    "Allreduce": (DATA, DATA),
    "Scan": (DATA, DATA),
    "Exscan": (DATA, DATA),
    "Reduce_scatter": ("crit_bytes(CRIT_SUM(recvcounts, members->size), datatype)",
                       f"crit_bytes(recvcounts[{RANK}], datatype)"),
    "Reduce_scatter_block": ("crit_bytes(recvcount, datatype) * members->size",
                             "crit_bytes(recvcount, datatype)"),
    "Neighbor_allgather": (f"{OUT} ? {SEND} : 0", f"{RECV} * (uint64_t){IN}"),
    "Neighbor_allgatherv": (f"{OUT} ? {SEND} : 0", RECVS.format(IN)),
    "Neighbor_alltoall": (f"{SEND} * (uint64_t){OUT}", f"{RECV} * (uint64_t){IN}"),
    "Neighbor_alltoallv": (SENDS.format(OUT), RECVS.format(IN)),
    "Neighbor_alltoallw": (SENDS_W.format(OUT), RECVS_W.format(IN)),
}

# Where the origin's buffer does not say what moves.
RMA_BYTES = {
    "Fetch_and_op": "crit_bytes(1, datatype)",
    "Compare_and_swap": "crit_bytes(1, datatype)",
    "Get_accumulate": "crit_bytes(result_count, result_datatype)",
    "Rget_accumulate": "crit_bytes(result_count, result_datatype)",
}
# Not all members of the communicator they are given take part.
JOINED = {"Comm_create_group", "Comm_create_from_group", "Intercomm_create",
          "Intercomm_create_from_groups", "Comm_join"}
# Which have no other details, but those that write or read.
TOGETHER = re.compile(r"Win_fence$|File_(set_atomicity|set_size|set_view|sync|preallocate)$")
MESSAGE_CALLS = {"Mrecv", "Imrecv", "Mprobe", "Improbe"}


class Detail:
    """Lines of C around one call."""

    def __init__(self, kind):
        self.before = []
        self.passed = {}  # parameter -> what is passed on instead of it
        self.after = []
        self.failed = []  # after an error
        # at level profile the bytes of calls that never wait are counted
        self.role = "CRIT_SHIM_CALLER" if kind == "MPI" else "CRIT_SHIM_TRACE"


def detail_line(kind, comm="0", peer="0", tag="0", size="0", request="0"):
    return f"crit_shim_detail(CRIT_D_{kind}, {comm}, {peer}, {tag}, {size}, {request});"


def started_line(kind, comm="0", peer="0", tag="0", size="0"):
    return f"crit_started(CRIT_D_{kind}, {comm}, {peer}, {tag}, {size}, *request);"


def received_line(comm):
    return f"crit_received({comm}, seen, {STATUS_BYTES});"


def also_truncated(detail):
    """What a success tells, of a message that was too long as well, but for its size."""
    lines = [f"\t{line}".replace(STATUS_BYTES, "CRIT_BYTES_UNKNOWN") for line in detail.after]
    detail.failed += ["if (crit_is_truncated(answer)) {", *lines, "}"]
    return detail


MOVES_NOTHING = started_line("ISEND", peer="MPI_PROC_NULL")  # its end has a start all the same


def own_status(detail):
    """Where the caller ignores the status, MPI fills in ours."""
    detail.before.append("MPI_Status own;")
    detail.before.append(f"MPI_Status *const seen = role & {detail.role} && "
                         "status == MPI_STATUS_IGNORE ? &own : status;")
    detail.passed["status"] = "seen"


def message(name, names, detail):
    """Point-to-point: a send, a receive, or both; of both a request is the receive's."""
    comm = "HANDLE(comm)"
    count = "(MPI_Count)partitions * count" if "partitions" in names else "count"
    send = re.search(r"(send|Send)", name)
    started = "{}_INIT" if "_init" in name else "I{}"
    if "sendtag" in names:
        sends = ("sendcount", "sendtype") if "sendcount" in names else ("count", "datatype")
        recvs = ("recvcount", "recvtype") if "recvcount" in names else ("count", "datatype")
        parts = [("SEND", "dest", "sendtag", sends), ("RECV", "source", "recvtag", recvs)]
    elif send:
        parts = [("SEND", "dest", "tag", (count, "datatype"))]
    else:  # MPICH's header calls the source of Precv_init dest
        peer = "source" if "source" in names else "dest"
        parts = [("RECV", peer, "tag", (count, "datatype"))]
    for what, peer, tag, (number, datatype) in parts:
        size = f"crit_bytes({number}, {datatype})"
        if "request" in names and tag != "sendtag":
            detail.after.append(started_line(started.format(what), comm, peer, tag, size))
        elif what == "RECV":
            detail.role = "CRIT_SHIM_TRACE"
            own_status(detail)
            detail.after.append(received_line("HANDLE(comm)"))
        else:
            detail.after.append(f"if ({peer} != MPI_PROC_NULL)")
            detail.after.append("\t" + detail_line(what, comm, f"crit_peer({peer})",
                                                   f"crit_tag({tag})", size))
    return also_truncated(detail) if "status" in names else detail


def probed_message(name, names, detail):
    """Mprobe and its like find a message, Mrecv and Imrecv take it."""
    datatype = "datatype" if "datatype" in names else "type"
    if "source" in names:
        detail.role = "CRIT_SHIM_TRACE"
        own_status(detail)
        flag = "if (*flag)\n\t\t\t" if "flag" in names else ""
        detail.after.append(f"{flag}crit_message_found(*message, comm, seen);")
        return detail
    detail.before.append("const struct crit_message taken = crit_message_take(message);")
    if "status" in names:
        own_status(detail)
        detail.after.append(received_line("taken.comm"))
        return also_truncated(detail)
    size = f"taken.source == CRIT_PEER_NULL ? 0 : crit_bytes(count, {datatype})"
    detail.after.append(detail_line("IRECV", "taken.comm", "taken.source", "taken.tag", size,
                                    "HANDLE(*request)"))
    detail.after.append("crit_request_started(*request);")
    return detail


def completion(name, names, detail):
    """Wait* and Test*: their requests are gone afterwards, and statuses may be ignored."""
    one = "request" in names
    count = "1" if one else ("incount" if "incount" in names else "count")
    handles = "request" if one else "array_of_requests"
    status = "status" if "status" in names else "array_of_statuses"
    index = next((n for n in names if n in ("indx", "index")), None)
    detail.before += [
        "struct crit_saved_requests kept = { .handles = NULL };",
        f"kept.statuses = {status};",
        "if (role & CRIT_SHIM_TRACE) {",
        f"\tcrit_requests_keep(&kept, {count}, {handles});",
        f"\tcrit_requests_keep_statuses(&kept, {'1' if status == 'status' else count}, {status});",
        "}"]
    detail.passed[status] = "kept.statuses"
    detail.role = "CRIT_SHIM_TRACE"
    flag = "if (*flag)\n\t\t\t" if "flag" in names else ""
    if index:
        done = f"crit_requests_done(&kept, 1, {index});"
    elif "outcount" in names:
        done = "crit_requests_done(&kept, *outcount, array_of_indices);"
    else:
        done = f"crit_requests_done(&kept, {count}, NULL);"
    detail.after.append(flag + done)
    ended = f"NULL, {index or 'NULL'}"
    if "outcount" in names:
        ended = "outcount, array_of_indices"
    detail.failed.append(f"crit_requests_failed(&kept, answer, {count}, {ended}, {handles});")
    return detail


def family_of(name):
    """(collective's name, kind of detail), or None."""
    plain = re.sub(r"_c$", "", name)
    for family in COLLECTIVES:
        if plain == family:
            return family, "COLL"
        if plain == "I" + family[0].lower() + family[1:]:
            return family, "ICOLL"
        if plain == family + "_init":
            return family, "COLL_INIT"
    return None


def collective(name, names, detail):
    family, kind = family_of(name)
    sent, received = COLLECTIVES[family]
    root = "crit_peer(root)" if "root" in names else "CRIT_PEER_ANY"
    request = "HANDLE(*request)" if "request" in names else "0"
    uses = "members" in sent + received
    detail.role = "CRIT_SHIM_CALLER"
    if uses:
        detail.after.append(
            "const struct crit_shim_comm *members = crit_shim_comm_find(HANDLE(comm));")
        sent, received = (f"!members ? CRIT_BYTES_UNKNOWN : {size}" for size in (sent, received))
    detail.after += ["const struct crit_shim_sizes sizes = {", f"\t.sent_bytes = {sent},",
                     f"\t.received_bytes = {received},", "};", "",
                     f"crit_shim_collective(CRIT_D_{kind}, HANDLE(comm), {root}, &sizes, {request});"]
    if kind == "ICOLL":
        detail.after.append("crit_request_started(*request);")
        return detail
    if kind == "COLL":  # counted all the same, for the others of the communicator have taken part
        detail.failed.append(f"crit_collective_failed(answer, HANDLE(comm), {root});")
    return detail


def one_sided(name, names, detail):
    plain = re.sub(r"_c$", "", name)
    kind = {"Put": "PUT", "Rput": "PUT", "Get": "GET", "Rget": "GET"}.get(plain, "ATOMIC")
    size = RMA_BYTES.get(plain, "crit_bytes(origin_count, origin_datatype)")
    if "request" in names:
        detail.after.append(started_line(kind, "HANDLE(win)", "target_rank", "0", size))
    else:
        detail.after += ["if (target_rank != MPI_PROC_NULL)",
                         "\t" + detail_line(kind, "HANDLE(win)", "target_rank", "0", size)]
    return detail


def file_data(name, kind, names, detail):
    """Of those of one process only, none waits."""
    if kind == "MPI_WAIT":
        together("FILE_HANDLE(fh)", detail)
    kind = "READ" if "read" in name else "WRITE"
    if "request" in names:
        detail.after.append(started_line(kind, size="crit_bytes(count, datatype)"))
    elif "status" in names:
        own_status(detail)
        detail.after.append(detail_line(kind, size=STATUS_BYTES))
    else:
        return detail if detail.after else None  # split: its end has the status
    return detail


def together(handle, detail):
    """All members of what handle is take part: who comes last may keep the others waiting."""
    detail.role = "CRIT_SHIM_CALLER"
    detail.after.append(f"crit_came_together({handle});")
    detail.failed.append(f"crit_collective_failed(answer, {handle}, CRIT_PEER_ANY);")
    return detail


def ended(name, handle, detail):
    """Told before, as another thread may be given the handle at once."""
    number = f"FILE_HANDLE(*{handle})" if name == "File_close" else f"HANDLE(*{handle})"
    detail.before.append(f"if (role & CRIT_SHIM_CALLER && {handle}) {{")
    if name in ("Win_free", "File_close"):
        detail.before.append(f"\tcrit_come_together({number});")
    detail.before += [f"\tcrit_shim_comm_free({number});", "}"]
    return detail


def new_comm(name, parameters, names, detail):
    """Calls with a communicator, window or file as output, and those that end one."""
    detail.role = "CRIT_SHIM_CALLER"
    of = {kind: [n for p, n in zip(parameters, names) if re.match(rf"MPI_{kind} ?\* ?\w+$", p)]
          for kind in ("Comm", "Win", "File")}
    made = of["Comm"] + of["Win"] + of["File"]
    if not made:
        return None
    parent = next((n for p, n in zip(parameters, names) if re.match(r"MPI_Comm \w+$", p)),
                  "MPI_COMM_NULL")
    if name in ("Comm_free", "Comm_disconnect", "Win_free", "File_close"):
        return ended(name, made[0], detail)
    if name == "Comm_get_parent":
        detail.after.append(f"crit_comm_met(*{made[0]});")
        return detail
    what = "win" if of["Win"] else "file" if of["File"] else "comm"
    how = "copied" if "request" in names else "joined" if name in JOINED else "made"
    detail.after.append(f"crit_{what}_{how}(*{made[0]}, {parent});")
    if "request" in names:
        detail.after.append(MOVES_NOTHING)
    elif how == "made" and parent != "MPI_COMM_NULL":
        together(f"HANDLE({parent})", detail)
    return detail


def find(name, kind, parameters, names):
    """The details of MPI_name, or None."""
    detail = Detail(kind)
    plain = re.sub(r"_c$", "", name)
    known = set(names)
    if family_of(name):
        return collective(name, names, detail)
    if plain in MESSAGE_CALLS:
        return probed_message(name, names, detail)
    if re.match(r"(Wait|Test)(all|any|some)?$", name):
        return completion(name, names, detail)
    if {"comm", "datatype"} <= known and known & {"tag", "sendtag"} or "sendtag" in known:
        return message(name, names, detail)
    if name == "Comm_set_name":
        detail.role = "CRIT_SHIM_TRACE"
        detail.after.append("crit_comm_named(HANDLE(comm), comm_name);")
        return detail
    if name in ("Start", "Startall", "Request_free"):
        detail.role = "CRIT_SHIM_TRACE"  # there are no bytes to count
    if name in ("Start", "Startall"):
        handle, lead = ("*request", "") if name == "Start" else (
            "array_of_requests[i]", "for (int i = 0; i < count; i++)\n\t\t\t")
        detail.after.append(lead + detail_line("START", request=f"HANDLE({handle})"))
        return detail
    if name == "Request_free":
        detail.before.append("const MPI_Request freed = request ? *request : MPI_REQUEST_NULL;")
        detail.after.append("crit_request_freed(freed);")
        return detail
    if name == "Grequest_start" or "iflush" in name:
        detail.role = "CRIT_SHIM_TRACE"
        detail.after.append(MOVES_NOTHING)
        return detail
    if {"target_rank", "win"} <= known:
        return one_sided(name, names, detail)
    if re.match(r"File_i?(read|write)", name):
        return file_data(name, kind, names, detail)
    if TOGETHER.match(name):
        return together("HANDLE(win)" if "win" in names else "FILE_HANDLE(fh)", detail)
    return new_comm(name, parameters, names, detail)
