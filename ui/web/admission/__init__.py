"""Admission to the page: who asks, what was sent, how much of the page one visitor may have.

Everything here acts on a request before gradio sees it, and nothing here reads what a visitor's text says.

    visitors     who asks: the address that counts, behind a proxy too
    connections  bytes and time for a head, and how many connections there are: beneath all others
    bodies       a body read within bounds of time and memory
    byte_quota   how much came in from a visitor within a minute, whatever became of it
    payloads     what an event may carry, by a table made from the built page
    pacing       who cost the page much recently, and begins later while others wait
    trials       new pages: only a few at a time may begin what costs much
    held         the events that these two hold back
    kinds        which events there are, and how much of each one may use
    counts       how much of each kind is in use, by page and by visitor
    sessions     which open pages are remembered, and whose goes when there are too many
    events       all of these as one layer in front of gradio's routes
"""
