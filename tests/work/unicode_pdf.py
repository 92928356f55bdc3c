"""A PDF whose text layer says anything: glyphs are numbers, and a table in the file says what they mean."""


def unicode_pdf(*pages: str) -> bytes:
    """Each page's text, drawn without a font file; a reader gets the characters from the table."""
    characters = sorted({character for page in pages for character in page} - {"\n"})
    number = {character: index for index, character in enumerate(characters, start=1)}
    objects = [b"<< /Type /Catalog /Pages 2 0 R >>", b""]
    objects += [
        b"<< /Type /Font /Subtype /Type0 /BaseFont /Helvetica /Encoding /Identity-H"
        b" /DescendantFonts [4 0 R] /ToUnicode 5 0 R >>",
        b"<< /Type /Font /Subtype /CIDFontType2 /BaseFont /Helvetica /DW 600 /FontDescriptor 6 0 R"
        b" /CIDSystemInfo << /Registry (Adobe) /Ordering (Identity) /Supplement 0 >> >>",
        stream(meaning(number)),
        b"<< /Type /FontDescriptor /FontName /Helvetica /Flags 4 /FontBBox [0 -200 1000 900] /ItalicAngle 0"
        b" /Ascent 800 /Descent -200 /CapHeight 700 /StemV 80 >>",
    ]
    kids = []
    for text in pages:
        objects.append(stream(drawn(text, number)))
        content = len(objects)
        objects.append(
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 2000 792] /Contents %d 0 R"
            b" /Resources << /Font << /F1 3 0 R >> >> >>" % content
        )
        kids.append(b"%d 0 R" % len(objects))
    objects[1] = b"<< /Type /Pages /Count %d /Kids [%s] >>" % (len(kids), b" ".join(kids))
    return assembled(objects)


def meaning(number: dict[str, int]) -> bytes:
    pairs = [f"<{index:04X}> <{character.encode('utf-16-be').hex()}>" for character, index in number.items()]
    blocks = [pairs[start : start + 100] for start in range(0, len(pairs), 100)]
    table = "\n".join(f"{len(block)} beginbfchar\n" + "\n".join(block) + "\nendbfchar" for block in blocks)
    return (
        "/CIDInit /ProcSet findresource begin 12 dict begin begincmap /CMapName /M def /CMapType 2 def\n"
        f"1 begincodespacerange <0000> <FFFF> endcodespacerange\n{table}\nendcmap end end"
    ).encode()


def drawn(text: str, number: dict[str, int]) -> bytes:
    lines = "\n".join(f"<{''.join(f'{number[c]:04X}' for c in line)}> Tj T*" for line in text.split("\n"))
    return f"BT /F1 12 Tf 14 TL 40 740 Td {lines} ET".encode()


def stream(content: bytes) -> bytes:
    return b"<< /Length %d >>\nstream\n%s\nendstream" % (len(content), content)


def assembled(objects: list[bytes]) -> bytes:
    written, places = b"%PDF-1.7\n", []
    for index, content in enumerate(objects, start=1):
        places.append(len(written))
        written += b"%d 0 obj\n%s\nendobj\n" % (index, content)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    count = len(objects) + 1
    trailer = b"trailer << /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF" % (count, len(written))
    return written + b"xref\n0 %d\n0000000000 65535 f \n%s%s" % (count, table, trailer)
