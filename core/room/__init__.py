"""The killable room: all work on strangers' text happens in processes that can be ended at any moment.

    jobs      what may be asked: named functions of ours, each with its limits
    values    what may come back: plain values and records, never code
    frames    8 bytes of length, then values
    child     start of a stem, by file path           service   its imports; a process's loop, one job after another
    stem      the parent's end: a stem, what splits   splitting its loop: processes split off, and are ended
    lock      the door: limits, no sockets, no files  process   the parent's end of one process
    lanes     few warm processes, and who waits       room      the one client: `call` and `run`
    turns     threads that ask the room               threads   one for each piece of work that waits
    memory    whether there is some for one more      inside    whether this process is one of a room

Whatever a job does (crash, hang, too much memory), the answer is a `RoomError`
that names the limit, and the next job finds a new process. Who stops waiting
for a job ends it.
"""

from prompt_debugger.core.room.inside import is_inside, limit_cpu
from prompt_debugger.core.room.jobs import Job, Limits, job
from prompt_debugger.core.room.lanes import VISITOR
from prompt_debugger.core.room.room import Room, close_rooms, room_of
from prompt_debugger.core.room.turns import in_thread

__all__ = ["VISITOR", "Job", "Limits", "Room", "close_rooms", "in_thread", "is_inside", "job", "limit_cpu", "room_of"]
