/** What `npm run test:peers -- fragments` tells these tests: servers that run, and tables that are there. */

export interface FragmentServers {
  /** Of the REST catalog, which has TPC-H as `tpch`. */
  readonly url: string;
  readonly storage: {
    readonly endpoint: string;
    readonly bucket: string;
    readonly accessKeyId: string;
    readonly secretAccessKey: string;
  };
  readonly python: string;
  /** Where its programs' modules lie. */
  readonly pythonPath: string;
  /** The program that asks and compares. */
  readonly answerQueries: string;
  /** The folder with the same rows as the catalog's tables, for DuckDB. */
  readonly tables: string;
  readonly splitBytes: number;
  /** Of the tests that something fails under. */
  readonly queries: number;
  /** Whether the same is asked without faults too, to tell how much longer they make it. */
  readonly compares: boolean;
  readonly seed: number;
}

const { SVC_TEST_FRAGMENTS = '{}' } = process.env;
export const servers: FragmentServers = JSON.parse(SVC_TEST_FRAGMENTS);
