// The official types of what we send, gathered so that each becomes one JSON Schema definition.
export type {
  AssistantThreadsSetStatusArguments,
  AssistantThreadsSetSuggestedPromptsArguments,
  ChatAppendStreamArguments,
  ChatPostEphemeralArguments,
  ChatPostMessageArguments,
  ChatStartStreamArguments,
  ChatStopStreamArguments,
  ChatUpdateArguments,
  ConversationsInfoArguments,
  ConversationsOpenArguments,
  ConversationsRepliesArguments,
  UsergroupsListArguments,
  UsersInfoArguments,
  ViewsOpenArguments,
  ViewsPublishArguments,
} from "./node_modules/@slack/web-api/dist/types/request"
export type { KnownBlock, View } from "./node_modules/@slack/types"
