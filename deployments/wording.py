"""What the admin reads beside a setting of a chat: what it exposes, in whole sentences."""

INCLUDE_THINKING = (
    "On: visitors see the model's thinking, or its summary where the vendor gives only that, above the "
    "answer while it is written. It can repeat your instructions, the visitor's words and what tools "
    "returned. Off: no thinking leaves the server. Only clients that ask for agent-events-v1 receive it; our "
    "chat page and widget do. It does not change how the answer itself arrives."
)
INCLUDE_TOOL_CALLS = (
    "On: visitors see each tool's name and whether it is running, done, failed or stopped. They never see "
    "arguments, results or error details. Names are shown as you wrote them, so check_debt tells visitors "
    "that you check debts. Off: neither names nor the number of calls leave the server. Only clients that "
    "ask for agent-events-v1 receive it."
)
REDACTION = (
    "While a rule is active the answer appears in one piece, because text is checked before it leaves. "
    "Rules of the workflow apply as well."
)

SLUG = "The address: /chat/… Empty: made from the title. Changing it: old links and embeds will stop working."
SUGGESTIONS = "One a line. Visitors see up to four of them as buttons."
OUTPUTS = "What visitors get of a run; nothing else of it reaches them."

PUBLIC = (
    "Anyone with the address can use it. Visitors see the title, the welcome and the answers. They never see "
    "the workflow, prompts, model, tool data, costs or other visitors' chats."
)
PASSWORD = (
    "Visitors type one shared password. Before that they see only the title. Changing the password signs "
    "everyone out at once. It is stored as a hash; you cannot read it here again."
)
EMAIL = "Not served yet: visitors are kept out. Their addresses or @domains, one a line."
JWT = "Not served yet: visitors are kept out. Your site will sign their tokens with this key (HS256)."

ALLOWED_EMAILS = "Addresses or @domains, one a line."
ALLOWED_ORIGINS = (
    "Sites that may embed this chat, exactly as in the address bar: https://www.example.com. One a line. "
    "Empty: only this server."
)
REQUESTS_PER_MINUTE = "Messages in a minute from one visitor and from one network address."
LOCALE = "en, pt-BR or es. Empty: the visitor's browser decides."
ACTIVE = "Off: for visitors the chat does not exist."
DESCRIPTION = "For colleagues; visitors never see it."
WELCOME = "What visitors read before their first message."
MAX_RUNS_VISITOR = "Answers on their way at once, for one visitor."
MAX_RUNS_ADDRESS = "Answers on their way at once, for one network address."
MAX_RUNS_CHAT = "Answers on their way at once, for the whole chat."
MAX_INPUT_CHARS = "Characters of one message."
MAX_RUN_SECONDS = "Seconds one answer may take; then it is stopped."
BUDGET_RUN = "Dollars one answer may cost. Kept, but not enforced yet."
BUDGET_DAY = "Dollars the chat may cost in a day (UTC). Empty: no limit."
