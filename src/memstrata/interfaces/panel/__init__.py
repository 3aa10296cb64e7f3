"""The panel: see, understand and correct what is remembered, in a browser.

One process serves it, on top of `AsyncMemory` alone; everything it loads lies on this machine.
"""
