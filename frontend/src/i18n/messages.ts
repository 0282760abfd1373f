// The shape of a language file. A missing key does not compile.

/** Every sentence a code can have. A code without one gets `OURS`. */
export interface Sentences {
  RUN_CANCELLED: string;
  RUN_TIMEOUT: string;
  RUN_INTERRUPTED: string;
  OURS: string;
  BUSY_MODEL: string;
  PROVIDER_UNAVAILABLE: string;
  PROVIDER_STREAM_BROKEN: string;
  PROVIDER_CONTENT_FILTERED: string;
  CONTEXT_WINDOW_EXCEEDED: string;
  OUTPUT_LIMIT: string;
  EMPTY_ANSWER: string;
  UNFINISHED: string;
  BUDGET_EXCEEDED: string;
  OUT_OF_DATE: string;
  NOT_ACCEPTED: string;
  INPUT_EMPTY: string;
  AUTH_REQUIRED: string;
  AUTH_FAILED: string;
  ORIGIN_NOT_ALLOWED: string;
  NOT_FOUND: string;
  CONVERSATION_GONE: string;
  CONVERSATION_BUSY: string;
  IDEMPOTENCY_CONFLICT: string;
  IDEMPOTENCY_IN_PROGRESS: string;
  /** `{time}` is put in. */
  RATE_LIMITED: string;
  SERVICE_UNAVAILABLE: string;
  OFFLINE: string;
  INTERRUPTED: string;
}

export interface Messages {
  sentences: Sentences;
  send: string;
  stop: string;
  tryAgain: string;
  copy: string;
  copied: string;
  newConversation: string;
  goBack: string;
  conversationCleared: string;
  thinking: string;
  /** `{n}` is put in. */
  thoughtFor: string;
  thought: string;
  running: string;
  done: string;
  failed: string;
  stopped: string;
  newText: string;
  you: string;
  /** By plural category of the language; `{n}` is put in. */
  usedTools: Partial<Record<Intl.LDMLPluralRule, string>> & { other: string };
  /** `{n}` is put in. */
  failedTools: string;
  placeholder: string;
  message: string;
  conversation: string;
  waiting: string;
  canSend: string;
  backOnline: string;
  finishFirst: string;
  restIsBelow: string;
  image: string;
  code: string;
  table: string;
  today: string;
  yesterday: string;
  password: string;
  showPassword: string;
  hidePassword: string;
  continue: string;
  signInElsewhere: string;
  loading: string;
  demo: string;
  /** `{time}` is put in. */
  sendAgainIn: string;
}
