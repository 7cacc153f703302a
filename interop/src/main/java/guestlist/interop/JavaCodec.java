package guestlist.interop;

import java.util.List;
import java.util.Optional;
import org.redisson.client.codec.Codec;

/** Redisson's codecs under guestlist's names. A version of Redisson need not have them all. */
enum JavaCodec {
  STRING("string", "org.redisson.client.codec.StringCodec", String.class, Long.class, Integer.class),
  LONG("long", "org.redisson.client.codec.LongCodec", Long.class),
  INT("int", "org.redisson.client.codec.IntegerCodec", Integer.class),
  JSON("json", "org.redisson.codec.JsonJacksonCodec", String.class, Long.class, Integer.class),
  KRYO5("kryo5", "org.redisson.codec.Kryo5Codec", String.class, Long.class, Integer.class),
  MARSHALLING(
      "marshalling", "org.redisson.codec.MarshallingCodec", String.class, Long.class, Integer.class),
  SERIALIZATION(
      "serialization", "org.redisson.codec.SerializationCodec", String.class, Long.class, Integer.class);

  final String word;
  final List<Class<?>> types;
  private final String className;

  JavaCodec(String word, String className, Class<?>... types) {
    this.word = word;
    this.className = className;
    this.types = List.of(types);
  }

  /** Nothing where this version of Redisson has no such codec. */
  Optional<Codec> load() {
    try {
      return Optional.of((Codec) Class.forName(className).getConstructor().newInstance());
    } catch (ClassNotFoundException absent) {
      return Optional.empty();
    } catch (ReflectiveOperationException broken) {
      throw new IllegalStateException(className, broken);
    }
  }

  static String typeWord(Class<?> type) {
    return type == Integer.class ? "int" : type.getSimpleName().toLowerCase(java.util.Locale.ROOT);
  }
}
