"""The program for programs that speak the Model Context Protocol: its commands as tools, runs and rules as resources.

    server ──► tools ──► the same handlers as the page's: one gate, one set of limits, one way out to the network
    the SDK,   what each tool does, without the SDK
    progress

`kept` contains the runs that later calls refer to by a handle. Only `server` imports the SDK (`pip install mcp`).
"""
