"""Secrets are known by their names and shapes; harmless words are left as they are."""

from __future__ import annotations

import time

import pytest

from laststep.record.console import ConsoleWriter
from laststep.record.events.process import Raised
from laststep.record.journal import JournalWriter, read_journal
from laststep.record.redact import environment_worth_keeping, hide_secrets, redact, redact_bytes

HIDDEN_COMMANDS = {
    "--authToken x": "--authToken …",
    "--secret-key -x": "--secret-key …",
    "-Dpassword=x": "-Dpassword=…",
    "--token abc": "--token …",
    "--tokens abc": "--tokens …",
    "--hf_token=abc": "--hf_token=…",
    "--url http://user:pass@host/x": "--url http://…@host/x",
    "mysql -u root -p hunter2": "mysql -u root -p …",
    "curl -u bob:hunter2": "curl -u bob:…",
    "-H Authorization:hunter2": "-H Authorization:…",
}
LEFT_ALONE = [
    "python -p 8080",
    "train.py -p float16",
    "serve -u root -p 8080",
    "--max-tokens 512 --pad-token <pad>",
    "--tokens 1000",
    "--tokenizer bert --author me --keyboard k --keys a,b",
    "--use-auth --epochs 3",
    "--no-password --epochs 3",
    "git clone ssh://git@github.com/x",
    "--lr 0.1 --path /data:ro --host a:8080",
]


@pytest.mark.parametrize("command", HIDDEN_COMMANDS)
def test_in_a_command_it_is_hidden(command):
    assert hide_secrets(command.split()) == HIDDEN_COMMANDS[command].split()


@pytest.mark.parametrize("command", LEFT_ALONE)
def test_harmless_words_stay(command):
    assert hide_secrets(command.split()) == command.split()


def test_of_the_environment_none_whose_name_speaks_of_a_secret():
    given = dict.fromkeys(("TF_MYPASSWORD", "TF_ACCESSKEY", "KERAS_TOKENS", "TF_AUTH", "CUDA_API_KEY"), "hunter2")
    kept = {"OMP_NUM_THREADS": "3", "TF_MAX_TOKENS": "512", "KERAS_BACKEND": "jax"}
    assert environment_worth_keeping({**given, **kept, "HOME": "/x"}) == kept
    assert environment_worth_keeping({"TF_PROXY": "http://u:hunter2@h"}) == {"TF_PROXY": "http://…@h"}


@pytest.mark.parametrize(
    "text",
    [
        "Authorization: Bearer hunter2hunter2",
        "curl: bearer hunter2hunter2",
        "no answer from postgres://user:hunter2@db/x",
        "login failed: password=hunter2",
        "{'api_key': 'hunter2', 'x': 1}",
        '{"secret_access_key": "hunter2"}',
        "passwd: hunter2",
        "ghp_hunter2hunter2hunter2hunter2",
        "eyJhbGciOiJIUzI1NiJ9.eyJodW50ZXIyhunter2.hunter2hunter2",
    ],
)
def test_in_a_text_it_is_hidden(text):
    assert "hunter2" not in redact(text)
    assert redact(redact(text)) == redact(text)


@pytest.mark.parametrize(
    "text",
    ["Unexpected token: x", "KeyError: 'key'", "http://host:80/a@b", "tokens: 12345", "secret = 1", "é\udcff key"],
)
def test_harmless_texts_stay(text):
    assert redact(text) == text


def test_it_never_takes_long():
    for text in (
        b"a" * 64_000 + b"key",
        b"password" * 8_000,
        b"-eyJaaaaaaaaaa." * 5_000,
        b"://:" * 16_000,
        b"sk-" * 20_000,
    ):
        began = time.process_time()
        redact_bytes(text)
        assert time.process_time() - began < 1, text[:20]


def test_in_the_record_and_on_the_kept_console(tmp_path):
    journal = JournalWriter(tmp_path / "j.jsonl", "x")
    journal.write(
        "exception", {"message": 'cannot log in: {"password": "hunter2"}', "frames": [{"text": "API_KEY='hunter2'"}]}
    )
    journal.close()
    (event,) = read_journal(tmp_path / "j.jsonl")
    assert isinstance(event, Raised)
    assert event.message == 'cannot log in: {"password": "…"}'
    console = ConsoleWriter(tmp_path / "console")
    console.write(b"loss: 0.1\npassword=hunter2\n")
    assert (tmp_path / "console").read_text() == "loss: 0.1\npassword=…\n"
    assert b"hunter2" not in b"".join(path.read_bytes() for path in tmp_path.iterdir())
