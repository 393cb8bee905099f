"""Decrypt PDF files that open with an empty password (ISO 32000-1, 7.6; ISO 32000-2, 7.6.4).

The ciphers are RC4 with keys of 40 to 128 bits, AES-128 and AES-256. The standard library has
neither RC4 nor AES.
"""

from __future__ import annotations

import functools
import hashlib
import struct

from websearch.kit import SearchError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# Padding of passwords to 32 bytes (algorithm 2, step a); it is used as the empty password.
PASSWORD_FILL = bytes.fromhex("28bf4e5e4e758a4164004e56fffa01082e2e00b6d0683e802f0ca9fe6453697a")
BLOCK = 16  # bytes in an AES block
ROUNDS = {16: 10, 24: 12, 32: 14}  # rounds of AES by the length of the key in bytes


class Decryptor:
    """Decrypts the strings and streams of a file, by string_filter and stream_filter.

    encrypt: the encryption dictionary with resolved references. file_id: the first part of the
    trailer's ID. Raises SearchError (refused) if a password, certificate or plug-in is needed.
    """

    def __init__(self, encrypt: dict[str, Any], file_id: bytes) -> None:
        self.version, self.revision, self.flags = (
            value if isinstance(value := encrypt.get(name), int) else 0 for name in ("V", "R", "P")
        )
        self.encrypts_metadata = encrypt.get("EncryptMetadata") is not False
        known = encrypt.get("Filter") == "Standard" and self.version in (1, 2, 3, 4, 5)
        values = [encrypt.get(name) for name in ("O", "U")]
        if not known or not all(isinstance(value, bytes) for value in values):
            message = "The PDF file is encrypted in a way that needs a certificate or a plug-in."
            raise SearchError("refused", message, "Look for an unprotected version.")
        self.filters = crypt_filters(encrypt)
        self.stream_filter = str(encrypt.get("StmF", "Identity"))
        self.string_filter = str(encrypt.get("StrF", "Identity"))
        if self.version < 4:
            self.filters["V2"] = "V2"
            self.stream_filter = self.string_filter = "V2"
        key = key_of_256_bits(encrypt) if self.version == 5 else self.short_key(encrypt, file_id)
        if key is None:
            hint = "Look for an unprotected version, or remove the password."
            raise SearchError("refused", "The PDF file needs a password.", hint)
        self.key = key

    def short_key(self, encrypt: dict[str, Any], file_id: bytes) -> bytes | None:
        """Return the file's key (algorithm 2); None if the empty password is wrong."""
        length = encrypt.get("Length", 40)
        size = length // 8 if isinstance(length, int) and 40 <= length <= 128 else 5
        if self.version == 4:
            size = 16
        elif self.version == 1 or self.revision == 2:
            size = 5
        digest = hashlib.md5(PASSWORD_FILL + encrypt["O"][:32], usedforsecurity=False)
        digest.update((self.flags & 0xFFFFFFFF).to_bytes(4, "little") + file_id)
        if self.revision >= 4 and not self.encrypts_metadata:
            digest.update(b"\xff\xff\xff\xff")
        key = digest.digest()
        if self.revision == 2:
            return key[:size] if rc4(key[:size], PASSWORD_FILL) == encrypt["U"][:32] else None
        for _ in range(50):
            key = md5(key[:size])
        check = rc4(key[:size], md5(PASSWORD_FILL + file_id))
        for step in range(1, 20):
            check = rc4(bytes(byte ^ step for byte in key[:size]), check)
        return key[:size] if check[:16] == encrypt["U"][:16] else None

    def decrypt(self, data: bytes, number: int, generation: int, filter_name: str) -> bytes:
        """Return data decrypted with the key for an object (algorithm 1)."""
        method = self.filters.get(filter_name, "None")
        if method == "None":
            return data
        if method == "AESV3":
            return aes_decrypt_cbc(self.key, data[:BLOCK], data[BLOCK:])
        salt = number.to_bytes(4, "little")[:3] + generation.to_bytes(4, "little")[:2]
        salt += b"sAlT" if method == "AESV2" else b""
        key = md5(self.key + salt)[: min(16, len(self.key) + 5)]
        if method == "AESV2":
            return aes_decrypt_cbc(key, data[:BLOCK], data[BLOCK:])
        return rc4(key, data)


def crypt_filters(encrypt: dict[str, Any]) -> dict[str, str]:
    """Return the method (V2, AESV2, AESV3, None) for each crypt filter in a file."""
    filters = encrypt.get("CF")
    pairs = filters.items() if isinstance(filters, dict) else ()
    return {name: str(item.get("CFM", "None")) for name, item in pairs if isinstance(item, dict)}


def md5(data: bytes) -> bytes:
    """Return the MD5 digest, which the file format requires."""
    return hashlib.md5(data, usedforsecurity=False).digest()


# ----- keys of 256 bits


def key_of_256_bits(encrypt: dict[str, Any]) -> bytes | None:
    """Return the file's key (algorithm 2.A); None if the empty password is wrong.

    U contains 32 bytes for checking the password, 8 bytes of salt for the check and 8 for the key.
    """
    user, packed = encrypt["U"], encrypt.get("UE")
    digest = digest_of_revision_6 if encrypt.get("R") == 6 else digest_of_revision_5
    if digest(user[32:40]) != user[:32] or not isinstance(packed, bytes):
        return None
    return aes_decrypt_cbc(digest(user[40:48]), bytes(BLOCK), packed[:32], padded=False)


def digest_of_revision_5(salt: bytes) -> bytes:
    """Return the digest of the empty password and a salt, as Acrobat 9 computed it."""
    return hashlib.sha256(salt).digest()


def digest_of_revision_6(salt: bytes) -> bytes:
    """Return the digest of the empty password and a salt (algorithm 2.B)."""
    digest = hashlib.sha256(salt).digest()
    step = 0
    encrypted = b"\0"
    while step < 64 or encrypted[-1] > step - 32:
        encrypted = aes_encrypt_cbc(digest[:16], digest[16:32], digest * 64)
        name = ("sha256", "sha384", "sha512")[sum(encrypted[:16]) % 3]
        digest = hashlib.new(name, encrypted).digest()
        step += 1
    return digest[:32]


# ----- ciphers


def rc4(key: bytes, data: bytes) -> bytes:
    """Return data encrypted or decrypted with RC4."""
    state = list(range(256))
    j = 0
    for i in range(256):
        j = (j + state[i] + key[i % len(key)]) & 255
        state[i], state[j] = state[j], state[i]
    i = j = 0
    stream = bytearray(len(data))
    for index in range(len(data)):
        i = (i + 1) & 255
        first = state[i]
        j = (j + first) & 255
        second = state[j]
        state[i], state[j] = second, first
        stream[index] = state[(first + second) & 255]
    return xor_bytes(bytes(stream), data)


def xor_bytes(data: bytes, mask: bytes) -> bytes:
    """Return the exclusive or of two byte strings of the same length."""
    mixed = int.from_bytes(data, "little") ^ int.from_bytes(mask, "little")
    return mixed.to_bytes(len(mask), "little")


def double(value: int) -> int:
    """Return twice a value in AES's field."""
    return (value << 1) ^ (0x11B if value & 0x80 else 0)


def multiply(value: int, factor: int) -> int:
    """Return a product in AES's field."""
    product = 0
    while factor:
        product ^= value if factor & 1 else 0
        value, factor = double(value), factor >> 1
    return product


@functools.cache
def aes_tables() -> tuple[bytes, bytes]:
    """Return AES's S-box and its inverse."""
    box = bytearray(256)
    inverse = 1  # inverse of value; the loop goes through the powers of 3 and of 1/3
    value = 1
    for _ in range(255):
        rotated = inverse * 0x0101
        spread = inverse ^ (rotated >> 7) ^ (rotated >> 6) ^ (rotated >> 5) ^ (rotated >> 4)
        box[value] = (spread & 255) ^ 0x63
        value = multiply(value, 3)
        inverse = multiply(inverse, 0xF6)
    box[0] = 0x63
    back = bytearray(256)
    for value, image in enumerate(box):
        back[image] = value
    return bytes(box), bytes(back)


@functools.lru_cache(maxsize=2)  # an object may contain thousands of strings
def round_keys(key: bytes) -> list[bytes]:
    """Return the 16-byte key for each round of AES."""
    box, _ = aes_tables()
    size = len(key) // 4
    words = [key[index : index + 4] for index in range(0, len(key), 4)]
    constant = 1
    for index in range(size, 4 * (ROUNDS[len(key)] + 1)):
        word = words[-1]
        if index % size == 0:
            word = bytes([box[word[1]] ^ constant, box[word[2]], box[word[3]], box[word[0]]])
            constant = double(constant)
        elif size == 8 and index % size == 4:
            word = bytes(box[byte] for byte in word)
        words.append(xor_bytes(words[index - size], word))
    return [b"".join(words[index : index + 4]) for index in range(0, len(words), 4)]


@functools.cache
def decryption_tables() -> list[bytes]:
    """Return a translation table per factor in InvMixColumns, with the products for all bytes."""
    return [bytes(multiply(value, factor) for value in range(256)) for factor in (14, 11, 13, 9)]


def aes_decrypt_cbc(key: bytes, start: bytes, data: bytes, padded: bool = True) -> bytes:
    """Return data decrypted with AES in CBC mode; start: the initialization vector.

    All blocks are decrypted at once. A plane is one byte of each block, so each step of the cipher
    needs a few operations on long byte strings instead of a loop over blocks.
    """
    data = data[: len(data) // BLOCK * BLOCK]
    if not data or len(start) < BLOCK:
        return b""
    keys = round_keys(key)
    _, back = aes_tables()
    length = len(data) // BLOCK
    planes = [add_key(data[index::BLOCK], keys[-1][index]) for index in range(BLOCK)]
    for step in range(len(keys) - 2, -1, -1):
        # InvShiftRows: byte 4 * column + row comes from the column that is row columns to the left.
        planes = [planes[(index - 4 * (index % 4)) % BLOCK] for index in range(BLOCK)]
        planes = [
            add_key(plane.translate(back), keys[step][index]) for index, plane in enumerate(planes)
        ]
        if step:
            planes = unmix_columns(planes, length)
    blocks = bytearray(len(data))
    for index, plane in enumerate(planes):
        blocks[index::BLOCK] = plane
    plain = xor_bytes(bytes(blocks), start + data[:-BLOCK])
    return plain[: -plain[-1]] if padded and 1 <= plain[-1] <= BLOCK else plain


def add_key(plane: bytes, byte: int) -> bytes:
    """Add a byte of a round key to each byte of a plane."""
    return xor_bytes(plane, bytes([byte]) * len(plane))


def unmix_columns(planes: list[bytes], length: int) -> list[bytes]:
    """Return the planes after InvMixColumns; length: bytes per plane."""
    mixed = []
    tables = decryption_tables()
    for index in range(BLOCK):
        column = index - index % 4
        total = 0
        for offset, table in enumerate(tables):
            source = planes[column + (index + offset) % 4]
            total ^= int.from_bytes(source.translate(table), "little")
        mixed.append(total.to_bytes(length, "little"))
    return mixed


@functools.cache
def encryption_tables() -> list[list[int]]:
    """Return the four tables that apply SubBytes and MixColumns to each byte of a column."""
    box, _ = aes_tables()
    tables = []
    for shift in range(4):
        factors = [2, 1, 1, 3][-shift:] + [2, 1, 1, 3][:-shift] if shift else [2, 1, 1, 3]
        tables.append(
            [
                int.from_bytes(bytes(multiply(value, factor) for factor in factors), "big")
                for value in box
            ]
        )
    return tables


def aes_encrypt_cbc(key: bytes, start: bytes, data: bytes) -> bytes:
    """Return complete blocks encrypted with AES in CBC mode; start: the initialization vector."""
    keys = [struct.unpack(">4I", words) for words in round_keys(key)]
    first, second, third, fourth = encryption_tables()
    box, _ = aes_tables()
    encrypted = []
    a, b, c, d = struct.unpack(">4I", start)
    for e, f, g, h in struct.iter_unpack(">4I", data):
        w, x, y, z = keys[0]
        a, b, c, d = a ^ e ^ w, b ^ f ^ x, c ^ g ^ y, d ^ h ^ z
        for w, x, y, z in keys[1:-1]:
            a, b, c, d = (
                first[a >> 24] ^ second[b >> 16 & 255] ^ third[c >> 8 & 255] ^ fourth[d & 255] ^ w,
                first[b >> 24] ^ second[c >> 16 & 255] ^ third[d >> 8 & 255] ^ fourth[a & 255] ^ x,
                first[c >> 24] ^ second[d >> 16 & 255] ^ third[a >> 8 & 255] ^ fourth[b & 255] ^ y,
                first[d >> 24] ^ second[a >> 16 & 255] ^ third[b >> 8 & 255] ^ fourth[c & 255] ^ z,
            )
        state = struct.pack(">4I", a, b, c, d)
        # ShiftRows: a byte in row r comes from the column that is r columns to the right.
        shifted = bytes([box[state[5 * index % BLOCK]] for index in range(BLOCK)])
        w, x, y, z = keys[-1]
        a, b, c, d = struct.unpack(">4I", shifted)
        a, b, c, d = a ^ w, b ^ x, c ^ y, d ^ z
        encrypted.append(struct.pack(">4I", a, b, c, d))
    return b"".join(encrypted)
