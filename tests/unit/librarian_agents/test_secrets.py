import pytest

from librarian_agents.secrets import MASK, masked

SECRETS = {
    "AWS key": ("The backup user is AKIAIOSFODNN7EXAMPLE since May.", "The backup user is [secret] since May."),
    "OpenAI key": ("export KEY sk-proj-abcdEFGH1234abcdEFGH1234", "export KEY [secret]"),
    "GitHub token": ("ghp_0123456789abcdefghij0123456789abcdef leaked", "[secret] leaked"),
    "named": ("AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", "AWS_SECRET_ACCESS_KEY=[secret]"),
    "AWS secret in prose": (
        "The key and wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY are in the vault.",
        "The key and [secret] are in the vault.",
    ),
    "told": ("The admin password is hunter2x since May.", "The admin password is [secret] since May."),
    "in a URL": ("see postgres://shop:hunter2@db/orders", "see postgres://shop:[secret]@db/orders"),
    "private key": ("-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----\nend", "[secret]\nend"),
}


@pytest.mark.parametrize(("text", "seen"), SECRETS.values(), ids=SECRETS)
def test_a_secret_is_masked_and_nothing_else(text, seen):
    assert masked(text) == seen


@pytest.mark.parametrize(
    "text",
    [
        "The token expires after an hour.",
        "PLT-418: the key pay_17 was rotated.",
        "Password of the archive: ask",
        "The password is stored in the vault.",
        "Reverted in 0123456789abcdef0123456789abcdef01234567.",
    ],
)
def test_talk_about_secrets_stays(text):
    assert MASK not in masked(text)
