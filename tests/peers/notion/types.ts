// The official types of Notion's answers, gathered so that each becomes one JSON Schema definition.
// Full objects are named next to lists, because the official lists also admit partial objects,
// which would let almost anything pass.
export type {
  BlockObjectResponse,
  CommentObjectResponse,
  DatabaseObjectResponse,
  DataSourceObjectResponse,
  GetPagePropertyResponse,
  ListBlockChildrenResponse,
  ListCommentsResponse,
  ListDataSourceTemplatesResponse,
  ListUsersResponse,
  PageObjectResponse,
  QueryDataSourceResponse,
  SearchResponse,
  UserObjectResponse,
} from "./node_modules/@notionhq/client/build/src/api-endpoints"
export type { PageMarkdownResponse } from "./node_modules/@notionhq/client/build/src/api-endpoints/common"
export type * from "./node_modules/@notionhq/client/build/src/api-endpoints/webhooks"
