"""What the ranks of one measurement agree about among themselves: how many calls
make a sample, whether a round is the last one, whose result is wrong. Small
values by way of the host; the data of kernels travels by their own means."""
import multiprocessing.connection as mpc
import time

from .errors import Lost


class Alone:
    """One rank, which agrees with itself."""
    rank, world = 0, 1

    def gather(self, what, value):
        return [value]

    def largest(self, what, value):
        return max(self.gather(what, value))

    def problem(self, what, text):
        """The first rank's problem, on all ranks; None if there is none."""
        texts = self.gather(what, text)
        rank = next((rank for rank, found in enumerate(texts) if found), None)
        if rank is None or texts.count(texts[rank]) == self.world:
            return texts[0]
        return f"rank {rank}: {texts[rank]}"

    def clock(self):
        """Seconds, the same on all ranks: whoever decides by them decides alike.
        Collective."""
        return self.first("clock", time.monotonic())

    def first(self, what, value):
        """Rank 0's value, on all ranks. Collective."""
        return self.gather(what, value)[0]

    def close(self):
        pass


class Group(Alone):
    """Rank 0 listens on `address`, a path of a socket; `key` are bytes that all
    ranks know. Raises Lost when a rank does not come within `limit` s, or is
    somewhere else in the program."""

    def __init__(self, rank, world, address, key, limit=60.0):
        self.rank, self.world, self.limit = rank, world, limit
        if rank == 0:
            self.listener = mpc.Listener(address, "AF_UNIX", backlog=world,
                                         authkey=key)
            # Listener has no time limit of its own; a process that does not come
            # has ended, which the parent sees.
            links = [self.listener.accept() for _ in range(1, world)]
            self.links = dict(sorted((self.receive(link, "a rank"), link)
                                     for link in links))
        else:
            self.links = {0: self.connect(address, key)}
            self.links[0].send(rank)

    def connect(self, address, key):
        end = time.monotonic() + self.limit
        while True:
            try:
                return mpc.Client(address, "AF_UNIX", authkey=key)
            except (FileNotFoundError, ConnectionRefusedError) as error:
                if time.monotonic() > end:
                    raise Lost("rank 0", f"is not there after "
                                     f"{self.limit:.0f} s") from error
                time.sleep(0.02)

    def receive(self, link, who):
        try:
            if not link.poll(self.limit):
                raise Lost(who, f"said nothing for {self.limit:.0f} s")
            return link.recv()
        except (EOFError, OSError) as error:
            raise Lost(who, "has gone") from error

    def gather(self, what, value):
        """Everybody's value, by rank. Collective; `what` has to be the same."""
        if self.rank:
            self.links[0].send((what, value))
            answer = self.receive(self.links[0], "rank 0")
            if isinstance(answer, str):
                raise Lost("ranks went apart", answer)
            return answer
        values = [value]
        for rank, link in self.links.items():
            theirs, other = self.receive(link, f"rank {rank}")
            if theirs != what:
                answer = f"rank 0 is at '{what}', rank {rank} at '{theirs}'"
                for each in self.links.values():
                    each.send(answer)
                raise Lost("ranks went apart", answer)
            values.append(other)
        for link in self.links.values():
            link.send(values)
        return values

    def close(self):
        for link in self.links.values():
            link.close()
        if self.rank == 0:
            self.listener.close()
