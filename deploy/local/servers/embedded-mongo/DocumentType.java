import de.bwaldvogel.mongo.bson.Document;
import de.bwaldvogel.mongo.wire.bson.BsonDecoder;
import de.bwaldvogel.mongo.wire.bson.BsonEncoder;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.nio.ByteBuffer;
import org.h2.mvstore.DataUtils;
import org.h2.mvstore.WriteBuffer;
import org.h2.mvstore.type.BasicDataType;
import org.h2.mvstore.type.ObjectDataType;

/**
 * How documents stand in the store: as BSON. The library leaves them to Java's serialization, which takes several times the time and the
 * room, for every document of every page of each commit, and is used for what BSON can't say.
 */
final class DocumentType extends BasicDataType<Document> {
    /** Tells BSON from what {@link ObjectDataType} writes, which begins with lower numbers. */
    private static final byte BSON = 122;

    private static final int FIRST_ESTIMATE = 1_000;

    private final ObjectDataType serialized = new ObjectDataType();

    /** Bytes of a document, on average. */
    private volatile int averageSize = FIRST_ESTIMATE;

    @Override
    public int getMemory(Document document) {
        return averageSize;
    }

    @Override
    public void write(WriteBuffer buffer, Document document) {
        ByteBuf bson = Unpooled.buffer(averageSize * 2);
        try {
            BsonEncoder.encodeDocument(document, bson);
        } catch (RuntimeException notInBson) {
            serialized.write(buffer, document);
            return;
        }
        int size = bson.readableBytes();
        averageSize = Math.max(1, (int) ((averageSize * 15L + size) / 16));
        buffer.put(BSON).putVarInt(size).put(bson.array(), bson.arrayOffset(), size);
    }

    @Override
    public Document read(ByteBuffer buffer) {
        if (buffer.get(buffer.position()) != BSON) {
            return (Document) serialized.read(buffer);
        }
        buffer.get();
        byte[] bson = new byte[DataUtils.readVarInt(buffer)];
        buffer.get(bson);
        return BsonDecoder.decodeBson(Unpooled.wrappedBuffer(bson));
    }

    @Override
    public Document[] createStorage(int size) {
        return new Document[size];
    }
}
