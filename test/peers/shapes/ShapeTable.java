import java.math.BigDecimal;
import java.nio.ByteBuffer;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.OffsetDateTime;
import java.time.format.DateTimeFormatter;
import java.time.format.DateTimeFormatterBuilder;
import java.time.temporal.ChronoField;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.apache.iceberg.AppendFiles;
import org.apache.iceberg.DataFile;
import org.apache.iceberg.DeleteFile;
import org.apache.iceberg.FileFormat;
import org.apache.iceberg.FileScanTask;
import org.apache.iceberg.HasTableOperations;
import org.apache.iceberg.PartitionKey;
import org.apache.iceberg.PartitionSpec;
import org.apache.iceberg.RowDelta;
import org.apache.iceberg.Schema;
import org.apache.iceberg.StructLike;
import org.apache.iceberg.Table;
import org.apache.iceberg.data.GenericAppenderFactory;
import org.apache.iceberg.data.GenericRecord;
import org.apache.iceberg.data.IcebergGenerics;
import org.apache.iceberg.data.InternalRecordWrapper;
import org.apache.iceberg.data.Record;
import org.apache.iceberg.deletes.BaseDVFileWriter;
import org.apache.iceberg.deletes.EqualityDeleteWriter;
import org.apache.iceberg.deletes.PositionDelete;
import org.apache.iceberg.deletes.PositionDeleteWriter;
import org.apache.iceberg.encryption.EncryptedOutputFile;
import org.apache.iceberg.io.CloseableIterable;
import org.apache.iceberg.io.DataWriter;
import org.apache.iceberg.io.OutputFileFactory;
import org.apache.iceberg.types.Type;
import org.apache.iceberg.types.TypeUtil;
import org.apache.iceberg.types.Types;

/** A table that is written, beside the rows that it must have. */
final class ShapeTable {
  private static final DateTimeFormatter SECONDS = new DateTimeFormatterBuilder()
      .appendPattern("HH:mm:ss").appendFraction(ChronoField.NANO_OF_SECOND, 0, 9, true).toFormatter();

  final String name;
  final Table table;
  private final List<ShapeRow> rows = new ArrayList<>();
  private final Map<String, DeleteFile> vectors = new HashMap<>();
  private final Map<String, Set<Long>> deletedPositions = new HashMap<>();
  /** Of data and delete files, one after the other. */
  private final List<FileFormat> formats;
  private int fileCount = 0;

  ShapeTable(String name, Table table, List<FileFormat> formats) {
    this.name = name;
    this.table = table;
    this.formats = formats;
  }

  private FileFormat nextFormat() {
    return formats.get(fileCount++ % formats.size());
  }

  /** Rows of one partition come into `files` files. */
  void append(List<Map<Integer, Object>> added, int files) throws Exception {
    int step = (added.size() + files - 1) / files;
    AppendFiles append = table.newAppend();
    for (int from = 0; from < added.size(); from += step) {
      write(added.subList(from, Math.min(from + step, added.size())), append);
    }
    append.commit();
  }

  private void write(List<Map<Integer, Object>> added, AppendFiles append) throws Exception {
    InternalRecordWrapper wrapper = new InternalRecordWrapper(table.schema().asStruct());
    Map<PartitionKey, List<Map<Integer, Object>>> partitions = new LinkedHashMap<>();
    for (Map<Integer, Object> values : added) {
      PartitionKey key = new PartitionKey(table.spec(), table.schema());
      key.partition(wrapper.wrap(record(table.schema().asStruct(), values)));
      partitions.computeIfAbsent(key, none -> new ArrayList<>()).add(values);
    }
    for (Map.Entry<PartitionKey, List<Map<Integer, Object>>> partition : partitions.entrySet()) {
      FileFormat format = nextFormat();
      DataWriter<Record> writer = new GenericAppenderFactory(table.schema(), table.spec())
          .setAll(table.properties())
          .newDataWriter(outputFile(format, table.spec(), partition.getKey()), format, partition.getKey());
      try (writer) {
        for (Map<Integer, Object> values : partition.getValue()) {
          writer.write(record(table.schema().asStruct(), values));
        }
      }
      DataFile file = writer.toDataFile();
      append.appendFile(file);
      long position = 0;
      for (Map<Integer, Object> values : partition.getValue()) {
        rows.add(new ShapeRow(new TreeMap<>(values), file, position++));
      }
    }
  }

  /** What rows written before have for columns added since, by name. */
  void addDefaults(Map<String, Object> values) {
    values.forEach((column, value) -> {
      int id = table.schema().findField(column).fieldId();
      boolean isNested = column.contains(".");
      for (ShapeRow row : rows) {
        if (!isNested || isStruct(row)) {
          row.values().put(id, value);
        }
      }
    });
  }

  /** One list for all data files of a partition, in the order that the specification wants. */
  void deletePositions(Predicate<ShapeRow> which) throws Exception {
    RowDelta delta = table.newRowDelta();
    for (List<ShapeRow> partition : byPartition(take(which))) {
      partition.sort(Comparator.comparing((ShapeRow row) -> row.file().location()).thenComparing(ShapeRow::position));
      PartitionSpec spec = specOf(partition);
      StructLike key = partition.get(0).file().partition();
      FileFormat format = nextFormat();
      PositionDeleteWriter<Record> writer = new GenericAppenderFactory(table.schema(), spec)
          .newPosDeleteWriter(outputFile(format, spec, key), format, key);
      PositionDelete<Record> delete = PositionDelete.create();
      try (writer) {
        for (ShapeRow row : partition) {
          writer.write(delete.set(row.file().location(), row.position(), null));
          positionsOf(row.file()).add(row.position());
        }
      }
      delta.addDeletes(writer.toDeleteFile());
    }
    delta.commit();
  }

  /** All vectors in one Puffin file; they take over what was deleted of their data files before. */
  void deleteVectors(Predicate<ShapeRow> which) throws Exception {
    RowDelta delta = table.newRowDelta().validateFromSnapshot(table.currentSnapshot().snapshotId());
    BaseDVFileWriter writer = new BaseDVFileWriter(outputFiles(FileFormat.PUFFIN), path -> null);
    try (writer) {
      Map<String, List<ShapeRow>> byFile =
          take(which).stream().collect(Collectors.groupingBy(row -> row.file().location()));
      for (Map.Entry<String, List<ShapeRow>> each : byFile.entrySet()) {
        DataFile file = each.getValue().get(0).file();
        Set<Long> positions = positionsOf(file);
        each.getValue().forEach(row -> positions.add(row.position()));
        for (long position : positions) {
          writer.delete(each.getKey(), position, table.specs().get(file.specId()), file.partition());
        }
        if (vectors.containsKey(each.getKey())) {
          delta.removeDeletes(vectors.remove(each.getKey()));
        }
      }
    }
    for (DeleteFile vector : writer.result().deleteFiles()) {
      vectors.put(vector.referencedDataFile(), vector);
      delta.addDeletes(vector);
    }
    delta.commit();
  }

  /** Those deleted so far: a vector has all of them. */
  private Set<Long> positionsOf(DataFile file) {
    return deletedPositions.computeIfAbsent(file.location(), none -> new HashSet<>());
  }

  /** Lists the values of rows in their own partitions, and takes all rows there that have them. */
  void deleteEqual(List<Integer> ids, Predicate<ShapeRow> which) throws Exception {
    List<ShapeRow> listed = rows.stream().filter(which).toList();
    RowDelta delta = table.newRowDelta();
    for (List<ShapeRow> partition : byPartition(listed)) {
      Set<List<Object>> keys = keysOf(ids, partition);
      DataFile file = partition.get(0).file();
      delta.addDeletes(equalityDeletes(ids, keys, specOf(partition), file.partition()));
      rows.removeIf(row -> row.file().specId() == file.specId()
          && row.file().partition().equals(file.partition()) && keys.contains(key(ids, row)));
    }
    delta.commit();
  }

  /** The same of all partitions, by a file of a spec that has none. */
  void deleteEqualEverywhere(List<Integer> ids, Predicate<ShapeRow> which, int unpartitionedSpec) throws Exception {
    Set<List<Object>> keys = keysOf(ids, rows.stream().filter(which).toList());
    PartitionSpec spec = table.specs().get(unpartitionedSpec);
    table.newRowDelta().addDeletes(equalityDeletes(ids, keys, spec, null)).commit();
    rows.removeIf(row -> keys.contains(key(ids, row)));
  }

  private DeleteFile equalityDeletes(List<Integer> ids, Set<List<Object>> keys, PartitionSpec spec, StructLike partition)
      throws Exception {
    Schema schema = TypeUtil.select(table.schema(), Set.copyOf(ids));
    int[] equalityIds = ids.stream().mapToInt(Integer::intValue).toArray();
    FileFormat format = nextFormat();
    EqualityDeleteWriter<Record> writer = new GenericAppenderFactory(table.schema(), spec, equalityIds, schema, null)
        .newEqDeleteWriter(outputFile(format, spec, partition), format, partition);
    try (writer) {
      for (List<Object> key : keys) {
        Map<Integer, Object> values = new TreeMap<>();
        for (int index = 0; index < ids.size(); index++) {
          values.put(ids.get(index), key.get(index));
        }
        writer.write(record(schema.asStruct(), values));
      }
    }
    return writer.toDeleteFile();
  }

  private static Set<List<Object>> keysOf(List<Integer> ids, List<ShapeRow> some) {
    return some.stream().map(row -> key(ids, row)).collect(Collectors.toSet());
  }

  /** Arrays are no keys. */
  private static List<Object> key(List<Integer> ids, ShapeRow row) {
    List<Object> key = new ArrayList<>();
    ids.forEach(id -> key.add(row.values().get(id) instanceof byte[] bytes ? ByteBuffer.wrap(bytes) : row.values().get(id)));
    return key;
  }

  private List<ShapeRow> take(Predicate<ShapeRow> which) {
    List<ShapeRow> taken = new ArrayList<>(rows.stream().filter(which).toList());
    rows.removeAll(taken);
    return taken;
  }

  private static List<List<ShapeRow>> byPartition(List<ShapeRow> some) {
    Map<List<Object>, List<ShapeRow>> partitions = new LinkedHashMap<>();
    for (ShapeRow row : some) {
      partitions.computeIfAbsent(List.of(row.file().specId(), row.file().partition()), none -> new ArrayList<>()).add(row);
    }
    return List.copyOf(partitions.values());
  }

  private PartitionSpec specOf(List<ShapeRow> partition) {
    return table.specs().get(partition.get(0).file().specId());
  }

  private OutputFileFactory outputFiles(FileFormat format) {
    return OutputFileFactory.builderFor(table, 1, System.nanoTime()).format(format).build();
  }

  private EncryptedOutputFile outputFile(FileFormat format, PartitionSpec spec, StructLike partition) {
    OutputFileFactory files = outputFiles(format);
    return spec.isPartitioned() ? files.newOutputFile(spec, partition) : files.newOutputFile();
  }

  private static Record record(Types.StructType type, Map<Integer, Object> values) {
    Record record = GenericRecord.create(type);
    for (Types.NestedField field : type.fields()) {
      record.setField(field.name(), value(field, values));
    }
    return record;
  }

  /** A value as the present type has it. A struct is there when any of its fields is. */
  private static Object value(Types.NestedField field, Map<Integer, Object> values) {
    if (field.type().isStructType()) {
      Types.StructType struct = field.type().asStructType();
      return struct.fields().stream().anyMatch(inner -> values.containsKey(inner.fieldId())) ? record(struct, values) : null;
    }
    Object value = values.get(field.fieldId());
    if (value instanceof Integer number && field.type().typeId() == Type.TypeID.LONG) {
      return number.longValue();
    }
    if (value instanceof Float number && field.type().typeId() == Type.TypeID.DOUBLE) {
      return number.doubleValue();
    }
    if (value instanceof ByteBuffer bytes && field.type().typeId() == Type.TypeID.FIXED) {
      return bytes.array();
    }
    return value;
  }

  private static boolean isStruct(ShapeRow row) {
    return row.values().containsKey(10);
  }

  String metadataLocation() {
    return ((HasTableOperations) table).operations().refresh().metadataFileLocation();
  }

  /** One text of each row, in DuckDB's dialect. */
  String sql() {
    List<String> columns = new ArrayList<>();
    for (Types.NestedField field : table.schema().columns()) {
      if (field.type().isStructType()) {
        field.type().asStructType().fields().forEach(inner ->
            columns.add(text("\"%s\".\"%s\"".formatted(field.name(), inner.name()), inner.type())));
      } else {
        columns.add(text("\"%s\"".formatted(field.name()), field.type()));
      }
    }
    return "concat_ws('|', %s)".formatted(String.join(", ", columns));
  }

  private static String text(String column, Type type) {
    boolean isBytes = type.typeId() == Type.TypeID.BINARY || type.typeId() == Type.TypeID.FIXED;
    return "coalesce(%s, 'NULL')".formatted(isBytes ? "hex(" + column + ")" : "CAST(" + column + " AS VARCHAR)");
  }

  /** The rows that are left, sorted. */
  List<String> texts() {
    return rows.stream().map(row -> text(record(table.schema().asStruct(), row.values()))).sorted().toList();
  }

  List<String> readBack() throws Exception {
    table.refresh();
    List<String> texts = new ArrayList<>();
    try (CloseableIterable<Record> records = IcebergGenerics.read(table).build()) {
      records.forEach(record -> texts.add(text(record)));
    }
    return texts.stream().sorted().toList();
  }

  /** In format 3: row id and last updated sequence number of each row, with its `id`, as text. */
  List<String> rowIds() throws Exception {
    List<String> ids = new ArrayList<>();
    try (CloseableIterable<FileScanTask> tasks = table.newScan().planFiles()) {
      for (FileScanTask task : tasks) {
        for (ShapeRow row : rows) {
          if (task.file().firstRowId() != null && row.file().location().equals(task.file().location())) {
            ids.add("%s|%d|%d".formatted(
                row.values().get(1), task.file().firstRowId() + row.position(), task.file().dataSequenceNumber()));
          }
        }
      }
    }
    return ids.stream().sorted().toList();
  }

  /** Readers may add columns of their own behind the table's. */
  private String text(Record record) {
    List<String> texts = new ArrayList<>();
    for (Types.NestedField field : table.schema().columns()) {
      Object value = record.getField(field.name());
      if (field.type().isStructType()) {
        for (Types.NestedField inner : field.type().asStructType().fields()) {
          texts.add(text(value == null ? null : ((Record) value).getField(inner.name()), inner.type()));
        }
      } else {
        texts.add(text(value, field.type()));
      }
    }
    return String.join("|", texts);
  }

  private static String text(Object value, Type type) {
    if (value == null) {
      return "NULL";
    } else if (value instanceof BigDecimal number) {
      return number.setScale(((Types.DecimalType) type).scale()).toPlainString();
    } else if (value instanceof LocalDateTime at) {
      return at.toLocalDate() + " " + SECONDS.format(at);
    } else if (value instanceof OffsetDateTime at) {
      return at.toLocalDate() + " " + SECONDS.format(at) + "+00";
    } else if (value instanceof LocalTime time) {
      return SECONDS.format(time);
    } else if (value instanceof ByteBuffer bytes) {
      return HexFormat.of().withUpperCase().formatHex(bytes.array());
    } else if (value instanceof byte[] bytes) {
      return HexFormat.of().withUpperCase().formatHex(bytes);
    } else if (value instanceof List<?> list) {
      return "[" + list.stream().map(each -> each == null ? "NULL" : each.toString()).collect(Collectors.joining(", ")) + "]";
    }
    return value.toString();
  }
}
