import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.File;
import java.io.IOException;
import java.math.BigDecimal;
import java.nio.ByteBuffer;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.stream.IntStream;
import java.util.stream.StreamSupport;
import org.apache.iceberg.BaseTable;
import org.apache.iceberg.FileScanTask;
import org.apache.iceberg.Files;
import org.apache.iceberg.Snapshot;
import org.apache.iceberg.StaticTableOperations;
import org.apache.iceberg.Table;
import org.apache.iceberg.TableScan;
import org.apache.iceberg.TableUtil;
import org.apache.iceberg.data.IcebergGenerics;
import org.apache.iceberg.data.Record;
import org.apache.iceberg.expressions.Expression;
import org.apache.iceberg.expressions.Expressions;
import org.apache.iceberg.io.CloseableIterable;
import org.apache.iceberg.io.FileIO;
import org.apache.iceberg.io.InputFile;
import org.apache.iceberg.io.OutputFile;
import org.apache.iceberg.types.Type;
import org.apache.iceberg.types.Types;

/**
 * The tables of the matrix, read and pruned by Iceberg Java's generic readers. Argument: the folder that
 * write_matrix.py has left. Prints one JSON line per check: name, ok, detail, seconds.
 */
public final class ReadByIceberg {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final JsonNodeFactory NODES = JsonNodeFactory.instance;
  private static final LocalDate EPOCH_DAY = LocalDate.EPOCH;
  private static final LocalDateTime EPOCH = EPOCH_DAY.atStartOfDay();

  private final File folder;
  private final Map<String, JsonNode> groups = new HashMap<>();

  private ReadByIceberg(File folder) {
    this.folder = folder;
  }

  public static void main(String[] arguments) throws IOException {
    ReadByIceberg reader = new ReadByIceberg(new File(arguments[0]));
    for (JsonNode each : JSON.readTree(new File(reader.folder, "cases.json"))) {
      reader.report(each);
    }
  }

  private void report(JsonNode written) throws IOException {
    long began = System.nanoTime();
    ObjectNode line = NODES.objectNode().put("name", written.get("name").asText());
    try {
      line.put("detail", check(written)).put("ok", true);
    } catch (Exception | AssertionError error) {
      line.put("detail", describe(error)).put("ok", false);
    }
    System.out.println(line.put("seconds", (System.nanoTime() - began) / 1e9));
  }

  private String check(JsonNode written) throws Exception {
    JsonNode group = group(written.get("group").asText());
    JsonNode fault = faultOf(written);
    String known = fault == null ? "" : fault.get("what").asText() + ": " + fault.get("reason").asText();
    Table table =
        new BaseTable(
            new StaticTableOperations(written.get("metadata").asText(), new LocalFiles()), written.get("name").asText());
    expect(TableUtil.formatVersion(table), written.get("version").asInt(), "format version");
    String column = written.get("column").asText();
    Expression filter = Expressions.equal(column, literal(table.schema().findType(column), group.get("value").asText()));
    if (known.startsWith("misreads")) {
      expect(readsRightly(table, group.get("rows")), false, known);
      return known;
    }
    List<JsonNode> rows = read(IcebergGenerics.read(table).build());
    expectRows(rows, group.get("rows"), "all rows");
    expect(oldestCount(table), written.get("first_rows").asInt(), "rows of the oldest snapshot");
    expectRows(read(IcebergGenerics.read(table).where(filter).build()), group.get("wanted"), filter.toString());
    long files = count(table.newScan());
    long left = count(table.newScan().filter(filter));
    expect(known, "", "a fault that there is no check for");
    expect(0 < left && left < files, true, "pruned: " + left + " of " + files + " files left");
    return rows.size() + " rows, " + left + " of " + files + " files for one value";
  }

  /** Of damaged lengths may come more than exceptions. */
  private static boolean readsRightly(Table table, JsonNode rows) {
    try {
      expectRows(read(IcebergGenerics.read(table).build()), rows, "all rows");
      return true;
    } catch (Exception | AssertionError | OutOfMemoryError error) {
      return false;
    }
  }

  private static JsonNode faultOf(JsonNode written) {
    return StreamSupport.stream(written.get("faults").spliterator(), false)
        .filter(fault -> fault.get("reader").asText().equals("java"))
        .findFirst()
        .orElse(null);
  }

  private JsonNode group(String name) throws IOException {
    if (!groups.containsKey(name)) {
      groups.put(name, JSON.readTree(new File(folder, name + ".json")));
    }
    return groups.get(name);
  }

  private static long oldestCount(Table table) throws IOException {
    Snapshot oldest =
        StreamSupport.stream(table.snapshots().spliterator(), false)
            .filter(snapshot -> snapshot.parentId() == null)
            .findFirst()
            .orElseThrow();
    return read(IcebergGenerics.read(table).useSnapshot(oldest.snapshotId()).build()).size();
  }

  private static long count(TableScan scan) throws IOException {
    try (CloseableIterable<FileScanTask> tasks = scan.planFiles()) {
      return StreamSupport.stream(tasks.spliterator(), false).map(task -> task.file().location()).distinct().count();
    }
  }

  private static List<JsonNode> read(CloseableIterable<Record> records) throws IOException {
    List<JsonNode> rows = new ArrayList<>();
    try (records) {
      records.forEach(record -> rows.add(canonical(record)));
    }
    return rows;
  }

  private static void expectRows(List<JsonNode> actual, JsonNode expected, String what) {
    List<JsonNode> wanted = new ArrayList<>();
    expected.forEach(wanted::add);
    expect(actual.size(), wanted.size(), "number of " + what);
    // The first column is the key.
    Comparator<JsonNode> byId = Comparator.comparingLong(row -> row.get(0).asLong());
    actual.sort(byId);
    wanted.sort(byId);
    for (int index = 0; index < wanted.size(); index++) {
      expect(actual.get(index), wanted.get(index), what);
    }
  }

  private static void expect(Object actual, Object expected, String what) {
    if (!String.valueOf(actual).equals(String.valueOf(expected))) {
      throw new AssertionError(what + ": " + actual + ", expected " + expected);
    }
  }

  /** As canonical.py has it. */
  private static JsonNode canonical(Object value) {
    if (value == null) {
      return NODES.nullNode();
    } else if (value instanceof Record record) {
      return array(IntStream.range(0, record.size()).mapToObj(record::get).toList());
    } else if (value instanceof List<?> list) {
      return array(list);
    } else if (value instanceof Map<?, ?> map) {
      ArrayNode entries = NODES.arrayNode();
      map.forEach((key, item) -> entries.add(NODES.arrayNode().add(canonical(key)).add(canonical(item))));
      return entries;
    }
    return NODES.textNode(text(value));
  }

  private static ArrayNode array(List<?> values) {
    ArrayNode result = NODES.arrayNode();
    values.forEach(value -> result.add(canonical(value)));
    return result;
  }

  private static String text(Object value) {
    if (value instanceof Float number) {
      return text(number.doubleValue());
    } else if (value instanceof Double number) {
      return number.isNaN() ? "nan" : String.format("%016x", Double.doubleToRawLongBits(number + 0.0));
    } else if (value instanceof BigDecimal number) {
      return number.toPlainString();
    } else if (value instanceof byte[] bytes) {
      return HexFormat.of().formatHex(bytes);
    } else if (value instanceof ByteBuffer buffer) {
      byte[] bytes = new byte[buffer.remaining()];
      buffer.duplicate().get(bytes);
      return HexFormat.of().formatHex(bytes);
    } else if (value instanceof LocalDate day) {
      return Long.toString(day.toEpochDay());
    } else if (value instanceof LocalTime time) {
      return Long.toString(ChronoUnit.MICROS.between(LocalTime.MIDNIGHT, time));
    } else if (value instanceof LocalDateTime moment) {
      return Long.toString(ChronoUnit.MICROS.between(EPOCH, moment));
    } else if (value instanceof OffsetDateTime moment) {
      return text(moment.withOffsetSameInstant(ZoneOffset.UTC).toLocalDateTime());
    }
    return value.toString();
  }

  /** What an expression takes for a value of the type. */
  private static Object literal(Type type, String text) {
    switch (type.typeId()) {
      case BOOLEAN:
        return Boolean.valueOf(text);
      case INTEGER:
      case DATE:
        return Integer.valueOf(text);
      case LONG:
      case TIME:
      case TIMESTAMP:
        return Long.valueOf(text);
      case FLOAT:
        return (float) Double.longBitsToDouble(Long.parseUnsignedLong(text, 16));
      case DOUBLE:
        return Double.longBitsToDouble(Long.parseUnsignedLong(text, 16));
      case DECIMAL:
        return new BigDecimal(text).setScale(((Types.DecimalType) type).scale());
      case UUID:
        return UUID.fromString(text);
      case FIXED:
      case BINARY:
        return ByteBuffer.wrap(HexFormat.of().parseHex(text));
      default:
        return text;
    }
  }

  private static String describe(Throwable error) {
    StackTraceElement[] frames = error.getStackTrace();
    String text = error + (error instanceof AssertionError || frames.length == 0 ? "" : " at " + frames[0]);
    return text.length() > 2000 ? text.substring(0, 2000) : text;
  }

  /** Files of this machine, without Hadoop's file systems. */
  private static final class LocalFiles implements FileIO {
    @Override
    public InputFile newInputFile(String location) {
      return Files.localInput(location.replaceFirst("^file:(//)?", ""));
    }

    @Override
    public OutputFile newOutputFile(String location) {
      throw new UnsupportedOperationException("Nothing is written here.");
    }

    @Override
    public void deleteFile(String location) {
      throw new UnsupportedOperationException("Nothing is deleted here.");
    }
  }
}
