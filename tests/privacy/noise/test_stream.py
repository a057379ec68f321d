"""The stream of bits: a known cipher, fair, never repeated by a child, a copy or a wrap."""

import copy
import os
import pickle

import numpy as np
import pytest

from dpsyn_core.errors import EngineError
from dpsyn_core.privacy.noise import stream
from dpsyn_core.privacy.noise.stream import SystemBits

pytestmark = pytest.mark.chance("samplers")


def test_the_stream_is_chacha20_of_the_key_the_system_gave(monkeypatch):
    # RFC 7539, appendix A.1, test vector 1: key and nonce zero, block counter 0
    monkeypatch.setattr(os, "urandom", bytes)
    block = SystemBits().words(8).tobytes()
    assert block.hex() == (
        "76b8e0ada0f13d90405d6ae55386bd28bdd219b8a08ded1aa836efcc8b770dc7"
        "da41597c5157488d7724e03fb8d84a376a43b8f41518a11cc387b669b2ee6586"
    )


def test_every_bit_is_fair():
    words = SystemBits().words(200_000)
    for bit in range(64):
        ones = int(((words >> np.uint64(bit)) & np.uint64(1)).sum())
        assert abs(ones - 100_000) < 6.4 * np.sqrt(50_000)  # 1e-10 a bit


def test_the_key_changes_before_the_counter_can_wrap(monkeypatch):
    keys = []
    monkeypatch.setattr(os, "urandom", lambda n: keys.append(n) or bytes([len(keys)]) * n)
    monkeypatch.setattr(stream, "REKEY_BYTES", 1024)
    monkeypatch.setattr(stream, "CHUNK_BYTES", 512)
    SystemBits().words(1024)
    assert keys == [32] * 8
    assert stream.CHUNK_BYTES <= stream.REKEY_BYTES


def test_a_forked_child_draws_other_bits():
    bits = SystemBits()
    bits.words(1)
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(write, bits.words(4).tobytes())
        os._exit(0)
    os.waitpid(child, 0)
    assert os.read(read, 32) != bits.words(4).tobytes()
    os.close(read)
    os.close(write)


@pytest.mark.parametrize("copier", [copy.copy, copy.deepcopy, pickle.dumps])
def test_a_source_cannot_be_copied(copier):
    with pytest.raises(EngineError, match="cannot be copied"):
        copier(SystemBits())
