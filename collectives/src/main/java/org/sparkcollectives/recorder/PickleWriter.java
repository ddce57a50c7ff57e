package org.sparkcollectives.recorder;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;

/**
 * Writes maps, lists, strings, numbers, booleans and nulls as Python's {@code pickle} does in its
 * protocol 2, which every Python 3 reads. Nothing in it names a class, so reading it runs no code.
 */
final class PickleWriter {

  // The opcodes, as named in Python's pickletools.
  private static final int PROTO = 0x80;
  private static final int MARK = '(';
  private static final int EMPTY_DICT = '}';
  private static final int SETITEMS = 'u';
  private static final int EMPTY_LIST = ']';
  private static final int APPENDS = 'e';
  private static final int BINUNICODE = 'X';
  private static final int LONG1 = 0x8a;
  private static final int BINFLOAT = 'G';
  private static final int NEWTRUE = 0x88;
  private static final int NEWFALSE = 0x89;
  private static final int NONE = 'N';
  private static final int STOP = '.';

  private final ByteArrayOutputStream out = new ByteArrayOutputStream();

  private PickleWriter() {}

  /** Returns the value, pickled. */
  static byte[] write(Object value) {
    PickleWriter writer = new PickleWriter();
    writer.out.write(PROTO);
    writer.out.write(2);
    writer.value(value);
    writer.out.write(STOP);
    return writer.out.toByteArray();
  }

  private void value(Object value) {
    if (value == null) {
      out.write(NONE);
    } else if (value instanceof Map<?, ?> map) {
      out.write(EMPTY_DICT);
      out.write(MARK);
      map.forEach(
          (key, each) -> {
            value(key);
            value(each);
          });
      out.write(SETITEMS);
    } else if (value instanceof List<?> list) {
      out.write(EMPTY_LIST);
      out.write(MARK);
      list.forEach(this::value);
      out.write(APPENDS);
    } else if (value instanceof String text) {
      byte[] utf8 = text.getBytes(StandardCharsets.UTF_8);
      out.write(BINUNICODE);
      out.writeBytes(little(Integer.BYTES).putInt(utf8.length).array());
      out.writeBytes(utf8);
    } else if (value instanceof Boolean truth) {
      out.write(truth ? NEWTRUE : NEWFALSE);
    } else if (value instanceof Double number) {
      out.write(BINFLOAT);
      out.writeBytes(ByteBuffer.allocate(Double.BYTES).putDouble(number).array());
    } else if (value instanceof Long || value instanceof Integer) {
      out.write(LONG1);
      out.write(Long.BYTES);
      out.writeBytes(little(Long.BYTES).putLong(((Number) value).longValue()).array());
    } else {
      throw new IllegalArgumentException("cannot pickle a " + value.getClass().getName());
    }
  }

  private static ByteBuffer little(int bytes) {
    return ByteBuffer.allocate(bytes).order(ByteOrder.LITTLE_ENDIAN);
  }
}
