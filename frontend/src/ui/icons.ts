// The icons the chat uses, from Lucide (ISC), as nodes. Always beside a word or inside a named button.

import {
  ArrowDown,
  ArrowUp,
  Check,
  ChevronRight,
  CircleSlash,
  Copy,
  type IconNode,
  LoaderCircle,
  Lock,
  RotateCw,
  Square,
  SquarePen,
  TriangleAlert,
  WifiOff,
} from "lucide";

const ICONS = {
  "arrow-down": ArrowDown,
  "arrow-up": ArrowUp,
  check: Check,
  chevron: ChevronRight,
  copy: Copy,
  failed: TriangleAlert,
  lock: Lock,
  new: SquarePen,
  offline: WifiOff,
  retry: RotateCw,
  running: LoaderCircle,
  stop: Square,
  stopped: CircleSlash,
} satisfies Record<string, IconNode>;

export type IconName = keyof typeof ICONS;

const SVG = "http://www.w3.org/2000/svg";

export function icon(name: IconName): SVGElement {
  const svg = document.createElementNS(SVG, "svg");
  const look = {
    viewBox: "0 0 24 24",
    width: "16",
    height: "16",
    fill: "none",
    stroke: "currentColor",
    "stroke-width": "1.75",
    "stroke-linecap": "round",
    "stroke-linejoin": "round",
    "aria-hidden": "true",
    class: `icon icon-${name}`,
  };
  for (const [key, value] of Object.entries(look)) svg.setAttribute(key, value);
  for (const [tag, attributes] of ICONS[name]) {
    const part = document.createElementNS(SVG, tag);
    for (const [key, value] of Object.entries(attributes)) part.setAttribute(key, String(value));
    svg.append(part);
  }
  return svg;
}
