import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.math.BigDecimal;
import java.nio.ByteBuffer;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.UUID;
import java.util.stream.IntStream;
import org.apache.iceberg.DataFile;
import org.apache.iceberg.FileFormat;
import org.apache.iceberg.HasTableOperations;
import org.apache.iceberg.PartitionSpec;
import org.apache.iceberg.Schema;
import org.apache.iceberg.Table;
import org.apache.iceberg.UpdateSchema;
import org.apache.iceberg.catalog.Namespace;
import org.apache.iceberg.catalog.TableIdentifier;
import org.apache.iceberg.expressions.Expressions;
import org.apache.iceberg.expressions.Literal;
import org.apache.iceberg.rest.RESTCatalog;
import org.apache.iceberg.types.Types;

/**
 * Writes tables of all shapes through an Iceberg REST catalog by Iceberg's own Java library, and prints one JSON line for
 * each: its name, a statement that makes one text of each row, and the texts that a right reader answers.
 *
 * <p>Arguments: catalog URI, S3 endpoint.
 */
public final class WriteShapes {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final Namespace SHAPES = Namespace.of("shapes");
  private static final int ROWS = 40;

  /** The ids are those that a catalog gives: first to columns, then to what is in them. */
  private static final Schema SCHEMA = new Schema(
      Types.NestedField.required(1, "id", Types.LongType.get()),
      Types.NestedField.optional(2, "k", Types.IntegerType.get()),
      Types.NestedField.optional(3, "name", Types.StringType.get()),
      Types.NestedField.optional(4, "amount", Types.DecimalType.of(9, 2)),
      Types.NestedField.optional(5, "day", Types.DateType.get()),
      Types.NestedField.optional(6, "ts", Types.TimestampType.withoutZone()),
      Types.NestedField.optional(7, "s", Types.StructType.of(
          Types.NestedField.optional(10, "a", Types.IntegerType.get()),
          Types.NestedField.optional(11, "b", Types.StringType.get()))),
      Types.NestedField.optional(8, "code", Types.StringType.get()),
      Types.NestedField.optional(9, "r", Types.FloatType.get()));

  /** What deletes rows: position delete files, equality delete files, deletion vectors; several do after each other. */
  private enum By { POSITION, EQUALITY, VECTOR }

  private final RESTCatalog catalog;

  private WriteShapes(RESTCatalog catalog) {
    this.catalog = catalog;
  }

  public static void main(String[] arguments) throws Exception {
    try (RESTCatalog catalog = new RESTCatalog()) {
      catalog.initialize("rest", Map.of(
          "uri", arguments[0],
          "io-impl", "org.apache.iceberg.aws.s3.S3FileIO",
          "header.X-Iceberg-Access-Delegation", "vended-credentials",
          "client.region", "us-east-1",
          "s3.endpoint", arguments[1],
          "s3.path-style-access", "true"));
      catalog.createNamespace(SHAPES);
      new WriteShapes(catalog).write();
    }
  }

  private void write() throws Exception {
    matrix(1, List.of("none", "identity", "year"), List.of());
    matrix(2, List.of("truncate", "day"), List.of(By.POSITION));
    matrix(2, List.of("none", "hour"), List.of(By.EQUALITY));
    matrix(2, List.of("bucket"), List.of(By.POSITION, By.EQUALITY));
    matrix(3, List.of("month"), List.of(By.VECTOR));
    matrix(3, List.of("none", "identity"), List.of(By.VECTOR, By.EQUALITY));
    plainKeys();
    partitionEvolution();
    upgrade();
    nestedKey();
    types("v3_types", FileFormat.PARQUET);
    avro();
    orc();
  }

  /** The same tables, data and deletes as Avro, or as Avro and Parquet by turns; each with a codec of its own. */
  private void avro() throws Exception {
    List<FileFormat> byTurns = List.of(FileFormat.AVRO, FileFormat.PARQUET);
    evolve(avroTable("v1_identity_avro", 1, spec("identity"), "uncompressed", List.of(FileFormat.AVRO)), List.of());
    evolve(avroTable("v2_bucket_avro", 2, spec("bucket"), "snappy", List.of(FileFormat.AVRO)),
        List.of(By.POSITION, By.EQUALITY));
    evolve(avroTable("v3_identity_mixed_avro", 3, spec("identity"), "zstd", byTurns), List.of(By.VECTOR, By.EQUALITY));
    types("v3_types_avro", FileFormat.AVRO);
  }

  private ShapeTable avroTable(String name, int format, PartitionSpec spec, String codec, List<FileFormat> formats) {
    ShapeTable table = create(name, format, SCHEMA, spec, formats);
    table.table.updateProperties().set("write.avro.compression-codec", codec).commit();
    return table;
  }

  private void matrix(int format, List<String> transforms, List<By> deletes) throws Exception {
    for (String transform : transforms) {
      String by = deletes.isEmpty() ? "nothing" : String.join("_", deletes.stream().map(Enum::name).toList());
      String name = "v%d_%s_%s".formatted(format, transform, by.toLowerCase());
      evolve(create(name, format, SCHEMA, spec(transform)), deletes);
    }
  }

  private static PartitionSpec spec(String transform) {
    PartitionSpec.Builder builder = PartitionSpec.builderFor(SCHEMA);
    return switch (transform) {
      case "identity" -> builder.identity("code").build();
      case "bucket" -> builder.bucket("id", 3).build();
      case "truncate" -> builder.truncate("name", 2).build();
      case "year" -> builder.year("day").build();
      case "month" -> builder.month("day").build();
      case "day" -> builder.day("ts").build();
      case "hour" -> builder.hour("ts").build();
      default -> builder.build();
    };
  }

  /** Appends, deletes, changes the schema in every way that the format allows, appends and deletes again. */
  private void evolve(ShapeTable table, List<By> deletes) throws Exception {
    int format = ((HasTableOperations) table.table).operations().current().formatVersion();
    PartitionSpec spec = table.table.spec();
    boolean isPartitionedByCode = spec.isPartitioned() && spec.fields().get(0).sourceId() == 8;
    table.append(rows(0, ROWS), 2);
    for (By by : deletes) {
      switch (by) {
        case POSITION -> table.deletePositions(row -> id(row) % 10 == 3);
        case VECTOR -> table.deleteVectors(row -> id(row) % 10 == 3);
        // A column that may be NULL and is promoted later, then one that is dropped later.
        case EQUALITY -> {
          table.deleteEqual(List.of(2), row -> id(row) % 20 == 4 || row.values().get(2) == null);
          table.deleteEqual(List.of(1, 8), row -> id(row) % 10 == 5);
        }
      }
    }
    table.append(rows(20, 10), 1); // The deletes do not reach these.
    UpdateSchema update = table.table.updateSchema()
        .renameColumn("name", "Title of it")
        .updateColumn("k", Types.LongType.get())
        .updateColumn("amount", Types.DecimalType.of(20, 2))
        .updateColumn("r", Types.DoubleType.get())
        .updateColumn("s.a", Types.LongType.get())
        .renameColumn("s.b", "c")
        .moveFirst("ts");
    if (format >= 3) {
      update.addColumn("region", Types.StringType.get(), "of all rows", Literal.of("EU"))
          .addColumn("s", "e", Types.IntegerType.get(), "of all rows", Literal.of(7));
    } else {
      update.addColumn("region", Types.StringType.get()).addColumn("s", "e", Types.IntegerType.get());
    }
    if (!isPartitionedByCode) {
      update.deleteColumn("code");
    }
    update.commit();
    table.addDefaults(format >= 3 ? Map.of("region", "EU", "s.e", 7) : Map.of());
    table.append(rows(100, 20), 1);
    for (By by : deletes) {
      switch (by) {
        case POSITION -> table.deletePositions(row -> id(row) % 10 == 7);
        case VECTOR -> table.deleteVectors(row -> id(row) % 10 == 7);
        case EQUALITY -> table.deleteEqual(List.of(1), row -> id(row) % 10 == 8);
      }
    }
    report(table);
  }

  /** Nothing but equality deletes, by values that are never NULL: what every reader of them can do. */
  private void plainKeys() throws Exception {
    ShapeTable table = create("v2_plain_keys", 2, SCHEMA, spec("none"));
    table.append(rows(0, 40), 2);
    table.deleteEqual(List.of(1), row -> id(row) % 10 == 5);
    table.append(rows(0, 10), 1);
    report(table);
  }

  /** Deletes of the specs that a table had; those without partitions are of all files. */
  private void partitionEvolution() throws Exception {
    ShapeTable table = create("v2_specs", 2, SCHEMA, spec("none"));
    table.append(rows(0, 20), 1);
    table.deletePositions(row -> id(row) == 1);
    table.table.updateSpec().addField(Expressions.bucket("id", 2)).commit();
    table.append(rows(20, 20), 2);
    table.deletePositions(row -> id(row) == 21);
    table.deleteEqual(List.of(1), row -> id(row) == 2 || id(row) == 22);
    table.table.updateSpec().removeField(Expressions.bucket("id", 2)).addField(Expressions.day("ts")).commit();
    table.append(rows(40, 20), 2);
    table.deleteEqual(List.of(2), row -> Integer.valueOf(3).equals(row.values().get(2)));
    table.deleteEqualEverywhere(List.of(2), row -> Integer.valueOf(4).equals(row.values().get(2)), 0);
    table.append(rows(60, 10), 1);
    report(table);
  }

  /** Position deletes that a deletion vector takes over. */
  private void upgrade() throws Exception {
    ShapeTable table = create("v2_to_v3", 2, SCHEMA, spec("none"));
    table.append(rows(0, 40), 2);
    table.deletePositions(row -> id(row) % 4 == 0);
    table.table.updateProperties().set("format-version", "3").commit();
    table.append(rows(40, 20), 1);
    table.deleteVectors(row -> id(row) % 20 == 1);
    report(table);
  }

  /** Equality deletes by a field of a struct, which is renamed since. */
  private void nestedKey() throws Exception {
    ShapeTable table = create("v2_nested_key", 2, SCHEMA, spec("none"));
    table.append(rows(0, 40), 2);
    table.deleteEqual(List.of(11), row -> id(row) % 10 == 2 && row.values().get(11) != null);
    table.table.updateSchema().renameColumn("s.b", "z").addColumn("s", "late", Types.StringType.get()).commit();
    table.deleteEqual(List.of(10, 11), row -> id(row) % 10 == 3 && row.values().get(11) != null);
    report(table);
  }

  private void types(String name, FileFormat format) throws Exception {
    Schema schema = new Schema(
        Types.NestedField.required(1, "id", Types.LongType.get()),
        Types.NestedField.optional(2, "time", Types.TimeType.get()),
        Types.NestedField.optional(3, "ns", Types.TimestampNanoType.withoutZone()),
        Types.NestedField.optional(4, "nstz", Types.TimestampNanoType.withZone()),
        Types.NestedField.optional(5, "tz", Types.TimestampType.withZone()),
        Types.NestedField.optional(6, "uuid", Types.UUIDType.get()),
        Types.NestedField.optional(7, "fixed", Types.FixedType.ofLength(4)),
        Types.NestedField.optional(8, "binary", Types.BinaryType.get()),
        Types.NestedField.optional(9, "wide", Types.DecimalType.of(38, 10)),
        Types.NestedField.optional(10, "flag", Types.BooleanType.get()),
        Types.NestedField.optional(11, "list", Types.ListType.ofOptional(14, Types.IntegerType.get())),
        Types.NestedField.optional(12, "map", Types.MapType.ofOptional(15, 16, Types.StringType.get(), Types.LongType.get())),
        Types.NestedField.optional(13, "pairs", Types.MapType.ofRequired(17, 18, Types.IntegerType.get(), Types.StringType.get())));
    // Each of them is compared by an equality delete, which is where their types meet.
    List<Integer> keys = List.of(2, 3, 4, 5, 6, 7, 8, 9, 10);
    ShapeTable table = create(name, 3, schema, PartitionSpec.unpartitioned(), List.of(format));
    List<Map<Integer, Object>> rows = new ArrayList<>();
    for (long id = 0; id < 40; id++) {
      rows.add(id % 7 == 0 ? only(1, id) : typedRow(id));
    }
    table.append(rows, 2);
    for (int key : keys) {
      table.deleteEqual(List.of(key), row -> id(row) == 8 + key);
    }
    table.deleteVectors(row -> id(row) > 36);
    report(table);
  }

  private static Map<Integer, Object> typedRow(long id) {
    LocalDateTime at = LocalDateTime.of(2024, 2, 28, 23, 0, 0, 123456789).plusHours(id);
    Map<Integer, Object> row = only(1, id);
    row.put(2, LocalTime.of(1, 2, 3, 123456000).plusMinutes(id));
    row.put(3, at);
    // The engine has no type for instants in nanoseconds: it answers them in microseconds.
    row.put(4, at.withNano(123456000).atOffset(ZoneOffset.UTC));
    row.put(5, at.withNano(123456000).atOffset(ZoneOffset.UTC));
    row.put(6, new UUID(id % 2 == 0 ? id : -id, id));
    row.put(7, new byte[] {1, 2, 3, (byte) id});
    row.put(8, ByteBuffer.wrap(new byte[] {(byte) 200, (byte) id}));
    row.put(9, new BigDecimal("1234567890123456789012345678.0000000000").add(BigDecimal.valueOf(id, 10)));
    row.put(10, id % 2 == 0);
    row.put(11, Arrays.asList((int) id, null, 3));
    row.put(12, Map.of("k", id));
    row.put(13, Map.of((int) id, "v" + id));
    return row;
  }

  /** One file as Parquet, and one as ORC. */
  private void orc() throws Exception {
    ShapeTable table = create("v2_orc", 2, SCHEMA, spec("none"), List.of(FileFormat.PARQUET, FileFormat.ORC));
    table.append(rows(0, 20), 2);
    report(table);
  }

  private static Map<Integer, Object> only(int id, Object value) {
    Map<Integer, Object> row = new TreeMap<>();
    row.put(id, value);
    return row;
  }

  private static long id(ShapeRow row) {
    return (Long) row.values().get(1);
  }

  /** By field id; the values are those of the first schema. */
  private static List<Map<Integer, Object>> rows(int first, int count) {
    return IntStream.range(first, first + count).mapToObj(number -> {
      Map<Integer, Object> row = only(1, (long) number);
      row.put(2, number % 9 == 0 ? null : number % 9);
      row.put(3, number % 11 == 0 ? null : "n" + number % 3 + "ü" + number);
      row.put(4, BigDecimal.valueOf(number * 101L - 300, 2));
      row.put(5, LocalDate.of(2023, 11, 15).plusDays(number * 3L));
      row.put(6, LocalDateTime.of(2024, 1, 1, 0, 0, 0, 500_000_000).plusHours(number % 4 * 13L));
      if (number % 13 != 0) {
        row.put(10, number % 5);
        row.put(11, number % 8 == 0 ? null : "b" + number);
      }
      row.put(8, number % 6 == 0 ? null : "c" + number % 3);
      row.put(9, number + 0.5f);
      return row;
    }).toList();
  }

  private ShapeTable create(String name, int format, Schema schema, PartitionSpec spec) {
    return create(name, format, schema, spec, List.of(FileFormat.PARQUET));
  }

  private ShapeTable create(String name, int format, Schema schema, PartitionSpec spec, List<FileFormat> formats) {
    Table table = catalog.buildTable(TableIdentifier.of(SHAPES, name), schema)
        .withPartitionSpec(spec)
        .withProperty("format-version", Integer.toString(format))
        .withProperty("write.parquet.compression-codec", "zstd")
        .create();
    return new ShapeTable(name, table, formats);
  }

  private static void report(ShapeTable table) throws Exception {
    List<String> expected = table.texts();
    try {
      List<String> found = table.readBack();
      if (!found.equals(expected)) {
        throw new AssertionError(table.name + ": Iceberg Java reads " + found + " instead of " + expected);
      }
    } catch (IllegalArgumentException error) {
      // Its generic reader does not find a column of an equality delete that was dropped since.
      if (!error.getMessage().startsWith("Cannot find required field for ID")) {
        throw error;
      }
    }
    ObjectNode line = JSON.createObjectNode();
    line.put("table", "shapes." + table.name).put("sql", table.sql()).put("metadata", table.metadataLocation());
    line.set("rows", JSON.valueToTree(expected));
    line.set("rowIds", JSON.valueToTree(table.rowIds()));
    System.out.println(line);
  }
}
