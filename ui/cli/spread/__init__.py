"""`--ray ADDRESS`: the same work on many machines of a Ray cluster.

    cluster   joining a cluster, and what it says when that fails
    cases     `parse --cases`: a file in pieces, through Ray Data, its answers in order
    keeper    `verify`: the journals, on the machine that asked; workers write into them from afar
    exchanges `watch`: each exchange is read by whichever machine is free; the proxy's machine keeps what was read
    rows      `verify`: shards of a dataset, each a task; a task whose machine dies goes on where its journal is

Ray is imported when it is asked for, and by no one else.
"""
