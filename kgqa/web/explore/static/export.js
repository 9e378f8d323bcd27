// A drawn graph as a file: SVG that needs nothing else, and PNG made of it.
(function () {
  "use strict";
  const SPACE = "http://www.w3.org/2000/svg", MARGIN = 24, CORNER = 6, LONGEST = 16000;

  // XML knows no control characters and no halves of letters.
  const clean = (text) => text.replace(/[^\t\n\r -\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu, "\uFFFD");
  const short = (number) => String(Math.round(number * 10) / 10);

  function add(parent, name, attributes, text) {
    const element = parent.ownerDocument.createElementNS(SPACE, name);
    for (const [key, value] of Object.entries(attributes)) if (value !== undefined) element.setAttribute(key, clean(String(value)));
    if (text !== undefined) element.textContent = clean(text);
    parent.appendChild(element);
    return element;
  }

  // The points of a line from end to end, and whether it bends smoothly.
  function course(edge) {
    const ends = [edge.sourceEndpoint(), edge.targetEndpoint()], between = edge.segmentPoints() || [], bends = edge.controlPoints() || [];
    return { points: [ends[0], ...(bends.length ? bends : between), ends[1]], smooth: bends.length > 0 };
  }

  function path({ points, smooth }) {
    const at = (point) => `${short(point.x)} ${short(point.y)}`, middle = (a, b) => ({ x: (a.x + b.x) / 2, y: (a.y + b.y) / 2 });
    let text = `M${at(points[0])}`;
    for (let i = 1; i < points.length - 1; i++) {
      const [before, here, after] = [points[i - 1], points[i], points[i + 1]];
      if (smooth) {
        text += `Q${at(here)} ${at(i + 2 < points.length ? middle(here, after) : after)}`;
        continue;
      }
      const part = (other) => {
        const length = Math.hypot(other.x - here.x, other.y - here.y) || 1, share = Math.min(CORNER, length / 2) / length;
        return { x: here.x + (other.x - here.x) * share, y: here.y + (other.y - here.y) * share };
      };
      text += `L${at(part(before))}Q${at(here)} ${at(part(after))}`;
    }
    return smooth && points.length > 2 ? text : `${text}L${at(points[points.length - 1])}`;
  }

  function arrow(tip, from) {
    const length = Math.hypot(tip.x - from.x, tip.y - from.y) || 1, [dx, dy] = [(tip.x - from.x) / length, (tip.y - from.y) / length];
    const foot = { x: tip.x - dx * 8, y: tip.y - dy * 8 };
    return [tip, { x: foot.x - dy * 3.4, y: foot.y + dx * 3.4 }, { x: foot.x + dy * 3.4, y: foot.y - dx * 3.4 }].map((point) => `${short(point.x)},${short(point.y)}`).join(" ");
  }

  // Where the label of an edge stands: in its middle, or so far from one of its ends along it.
  function labelPlace(edge, points) {
    for (const [name, line] of [["source", points], ["target", [...points].reverse()]]) {
      const label = edge.style(`${name}-label`);
      if (!label) continue;
      let left = edge.numericStyle(`${name}-text-offset`), i = 1;
      const length = () => Math.hypot(line[i].x - line[i - 1].x, line[i].y - line[i - 1].y) || 1;
      for (; i < line.length - 1 && left > length(); i++) left -= length();
      const share = left / length();
      return { label, x: line[i - 1].x + (line[i].x - line[i - 1].x) * share, y: line[i - 1].y + (line[i].y - line[i - 1].y) * share };
    }
    const middle = edge.midpoint();
    return { label: edge.style("label"), x: middle.x, y: middle.y };
  }

  function drawEdge(parent, edge, canvas, measure) {
    const opacity = edge.numericStyle("opacity");
    if (!opacity) return;
    const line = course(edge), { points } = line, colour = edge.style("line-color");
    const group = add(parent, "g", { opacity: opacity < 1 ? opacity : undefined });
    add(group, "path", {
      d: path(line), fill: "none", stroke: colour, "stroke-width": edge.numericStyle("width"), "stroke-dasharray": edge.style("line-style") === "dashed" ? "5 3" : undefined,
    });
    if (edge.style("target-arrow-shape") === "triangle") add(group, "polygon", { points: arrow(points[points.length - 1], points[points.length - 2]), fill: colour });
    const place = labelPlace(edge, points);
    if (!place.label) return;
    const size = edge.numericStyle("font-size"), wide = measure(place.label) * size / 12.5 + 4;
    add(group, "rect", { x: short(place.x - wide / 2), y: short(place.y - size * 0.72), width: short(wide), height: short(size * 1.44), fill: canvas });
    add(group, "text", { x: short(place.x), y: short(place.y), "font-size": size, fill: edge.style("color"), "text-anchor": "middle", "dominant-baseline": "central" }, place.label);
  }

  function drawNode(parent, node) {
    const { x, y } = node.position(), width = node.width(), height = node.height(), group = add(parent, "g", {});
    add(group, "title", {}, node.data("full"));
    const style = node.style("border-style");
    add(group, "rect", {
      x: short(x - width / 2), y: short(y - height / 2), width: short(width), height: short(height), rx: node.style("shape") === "rectangle" ? 0 : node.hasClass("other") ? 4 : 13,
      fill: node.style("background-color"), stroke: node.style("border-color"), "stroke-width": style === "double" ? 2 : node.numericStyle("border-width"), "stroke-dasharray": style === "dashed" ? "5 3" : undefined,
    });
    add(group, "text", {
      x: short(x), y: short(y), "font-size": node.numericStyle("font-size"), "font-weight": node.hasClass("bold") ? 600 : undefined, fill: node.style("color"), "text-anchor": "middle",
      "dominant-baseline": "central",
    }, node.style("label"));
  }

  // The whole graph, whatever part of it is in view, as the text of a file; the colours are those of the page now.
  function svg(cy, title, canvas, measure) {
    const chosen = cy.elements(".at, .lit").map((element) => [element, ["at", "lit"].filter((name) => element.hasClass(name))]);
    cy.batch(() => chosen.forEach(([element, names]) => element.removeClass(names.join(" "))));
    const box = cy.elements().boundingBox({ includeOverlays: false }), family = cy.nodes()[0].style("font-family");
    const size = { x: Math.floor(box.x1) - MARGIN, y: Math.floor(box.y1) - MARGIN, w: Math.ceil(box.w) + 2 * MARGIN, h: Math.ceil(box.h) + 2 * MARGIN };
    const file = document.implementation.createDocument(SPACE, "svg"), root = file.documentElement;
    for (const [key, value] of Object.entries({ width: size.w, height: size.h, viewBox: `${size.x} ${size.y} ${size.w} ${size.h}`, role: "img", "font-family": family })) root.setAttribute(key, value);
    add(root, "title", {}, title);
    add(root, "rect", { x: size.x, y: size.y, width: size.w, height: size.h, fill: canvas });
    const byDepth = cy.edges().sort((a, b) => Number(a.hasClass("chain")) - Number(b.hasClass("chain")));
    byDepth.forEach((edge) => drawEdge(root, edge, canvas, measure));
    cy.nodes().forEach((node) => drawNode(root, node));
    cy.batch(() => chosen.forEach(([element, names]) => element.addClass(names.join(" "))));
    return { text: `<?xml version="1.0" encoding="UTF-8"?>\n${new XMLSerializer().serializeToString(file)}\n`, width: size.w, height: size.h };
  }

  // Twice as many pixels as the picture has on a plain screen, unless no canvas is so large.
  async function png(drawn) {
    const image = new Image(), scale = Math.min(2, LONGEST / Math.max(drawn.width, drawn.height));
    image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(drawn.text)}`;
    await image.decode();
    const paper = document.createElement("canvas");
    paper.width = Math.round(drawn.width * scale);
    paper.height = Math.round(drawn.height * scale);
    paper.getContext("2d").drawImage(image, 0, 0, paper.width, paper.height);
    return new Promise((done) => paper.toBlob(done, "image/png"));
  }

  function save(blob, title, ending) {
    const link = document.createElement("a"), words = title.toLowerCase().match(/[\p{L}\p{M}\p{N}]+/gu) || ["graph"];
    link.href = URL.createObjectURL(blob);
    link.download = `${Array.from(words.join("-")).slice(0, 60).join("")}.${ending}`;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  }

  window.kgqaExport = { svg, png, save };
})();
