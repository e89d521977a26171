import java.util.Map;
import org.apache.iceberg.DataFile;

/** A row of a table, with the file and the position at which it lies. Values are by field id, those in structs too. */
record ShapeRow(Map<Integer, Object> values, DataFile file, long position) {}
