import java.nio.file.Path;
import org.neo4j.configuration.GraphDatabaseSettings;
import org.neo4j.configuration.connectors.BoltConnector;
import org.neo4j.configuration.helpers.SocketAddress;
import org.neo4j.dbms.api.DatabaseManagementServiceBuilder;

/** Neo4j Community with its Bolt server, and without the one for HTTP: Server DIR PORT. */
public class Server {
	public static void main(String[] args) throws InterruptedException {
		var server = new DatabaseManagementServiceBuilder(Path.of(args[0]))
				.setConfig(GraphDatabaseSettings.auth_enabled, true)
				.setConfig(GraphDatabaseSettings.pagecache_memory, 64L << 20)
				.setConfig(BoltConnector.enabled, true)
				.setConfig(BoltConnector.listen_address, new SocketAddress("127.0.0.1", Integer.parseInt(args[1])))
				.build();
		Runtime.getRuntime().addShutdownHook(new Thread(server::shutdown));
		Thread.currentThread().join();
	}
}
