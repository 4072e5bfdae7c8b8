// Attention as bars that a reader drags: prediction and distances follow in the browser, and Python hears of it on release.
//
// The decoder is linear in the context, so softmax over labels of bias + Σ_w weight[w] · effect[w] is all there is to compute.
// Streamlit calls the export again on every run into the same shadow root; what is shown then stays, unless the text changed.
// Words reach the page through textContent alone.

const views = new WeakMap();
const WAIT = 350; // milliseconds after the last key before Python is told
const FINE = 0.001;
const STEP = 0.01;
const LEAP = 0.1;
const SLACK = 1e-9;
const UNSEEN = 0.005; // a weight that is written 0.00

export default ({ data, parentElement, setStateValue }) => {
  const name = `${data.id}|${data.lang}`;
  let view = views.get(parentElement);
  if (!view || view.name !== name) {
    view?.root.remove();
    view = build(data, name);
    parentElement.append(view.root);
    views.set(parentElement, view);
  }
  view.send = () => setStateValue("spot", { id: data.id, weights: [...view.weights], best: view.best && [...view.best] });
  view.data = data;
  if (view.best && reading(data, view.best).tvd > data.epsilon + SLACK) view.best = null;
  draw(view);
};

// Numbers

const softmax = (logits) => {
  const top = Math.max(...logits);
  const odds = logits.map((z) => Math.exp(z - top));
  const total = odds.reduce((a, b) => a + b, 0);
  return odds.map((odd) => odd / total);
};

const predicted = (data, weights) =>
  softmax(data.bias.map((bias, label) => weights.reduce((sum, weight, word) => sum + weight * data.effect[word][label], bias)));

const relative = (p, q) => (p > 0 ? p * Math.log((2 * p) / (p + q)) : 0);

const divergence = (p, q) => p.reduce((sum, _, i) => sum + (relative(p[i], q[i]) + relative(q[i], p[i])) / 2, 0);

const reading = (data, weights) => {
  const prob = predicted(data, weights);
  const own = predicted(data, data.original);
  const tvd = prob.reduce((sum, p, i) => sum + Math.abs(p - own[i]) / 2, 0);
  return { prob, tvd, jsd: divergence(weights, data.original) };
};

// One word gets `weight`; the others share the rest as they shared it before, or as the model does where they had nothing.
const turned = (data, from, word, weight) => {
  const share = (weights) => weights.reduce((sum, value, i) => (i === word ? sum : sum + value), 0);
  const parts = [from, data.original, from.map(() => 1)].find((weights) => share(weights) > SLACK);
  const rest = share(parts);
  return parts.map((value, i) => (i === word ? weight : ((1 - weight) * value) / rest));
};

// What is on the page

const element = (tag, className, text) => {
  const made = document.createElement(tag);
  if (className) made.className = className;
  if (text !== undefined) made.textContent = text;
  return made;
};

const within = (parent, ...children) => {
  parent.append(...children);
  return parent;
};

const build = (data, name) => {
  const view = {
    name,
    data,
    root: element("div", "spotlight"),
    weights: [...(data.start ?? data.original)],
    best: data.best && [...data.best],
    word: null,
    timer: 0,
  };
  view.root.lang = data.lang;
  view.shown = readout(data.text);
  view.meter = meter(data.text);
  const words = element("div", "words");
  words.setAttribute("role", "group");
  words.setAttribute("aria-label", data.text.words);
  words.dir = data.rtl ? "rtl" : "ltr";
  view.tracks = data.words.map((word, i) => {
    const track = slider(view, word, i);
    const label = element("bdi", "text", word);
    label.lang = data.language;
    label.title = word;
    words.append(within(element("div", "word"), track, label));
    return track;
  });
  words.setAttribute("translate", "no");
  view.fine = fine(view);
  view.note = element("p", "note");
  view.root.append(view.shown.root, view.meter.root, words, view.fine.root, view.note);
  return view;
};

const readout = (text) => {
  const item = (name, kind) => {
    const value = element("b");
    return { root: within(element("div", `item ${kind}`), element("span", "", name), value), value };
  };
  const shown = {
    root: element("div", "readout"),
    prediction: item(text.prediction, "prediction"),
    tvd: item(text.tvd, "tvd"),
    jsd: item(text.jsd, "jsd"),
    best: item(text.best, "best"),
    bar: element("i"),
    state: element("em"),
  };
  shown.prediction.root.append(within(element("i", "bar"), shown.bar));
  shown.tvd.root.append(shown.state);
  shown.root.append(...["prediction", "tvd", "jsd", "best"].map((key) => shown[key].root));
  return shown;
};

const meter = (text) => {
  const mark = (kind, name) => within(element("i", kind), element("span", "", name));
  const shown = {
    root: element("div", "meter"),
    line: element("div", "line"),
    best: mark("mark best", text.best_short),
    now: mark("mark now", text.now),
    optimum: mark("mark optimum", text.optimum),
  };
  shown.root.setAttribute("aria-hidden", "true");
  shown.line.append(shown.best, shown.optimum, shown.now);
  shown.root.append(element("span", "", "0"), shown.line, element("span", "", Math.LN2.toFixed(2)));
  return shown;
};

const slider = (view, word, i) => {
  const track = element("div", "track");
  const set = (name, value) => track.setAttribute(name, value);
  set("role", "slider");
  set("tabindex", "0");
  set("aria-orientation", "vertical");
  set("aria-label", `${i + 1}. ${word}`);
  set("aria-valuemin", "0");
  set("aria-valuemax", "1");
  within(track, element("i", "learned"), element("i", "bar"), element("i", "optimum"));
  pointed(view, track, i);
  track.addEventListener("keydown", (event) => keyed(view, event, i));
  track.addEventListener("focus", () => choose(view, i));
  track.addEventListener("blur", () => flush(view));
  return track;
};

// Every move is computed from the weights at the start of the drag, once a frame.
const pointed = (view, track, i) => {
  let from = null;
  let at = 0;
  let frame = 0;
  const apply = () => {
    frame = 0;
    const box = track.getBoundingClientRect();
    const share = Math.min(Math.max((box.bottom - at) / box.height, 0), 1);
    move(view, i, share * share, from);
  };
  track.addEventListener("pointerdown", (event) => {
    if (event.button !== 0 || from) return;
    event.preventDefault();
    track.setPointerCapture(event.pointerId);
    track.focus({ preventScroll: true });
    from = [...view.weights];
    at = event.clientY;
    apply();
  });
  track.addEventListener("pointermove", (event) => {
    if (!from) return;
    at = event.clientY;
    frame ||= requestAnimationFrame(apply);
  });
  const end = () => {
    if (!from) return;
    if (frame) {
      cancelAnimationFrame(frame);
      apply();
    }
    from = null;
    tell(view);
  };
  track.addEventListener("pointerup", end);
  track.addEventListener("pointercancel", end);
  track.addEventListener("lostpointercapture", end);
};

const keyed = (view, event, i) => {
  const step = event.shiftKey ? FINE : STEP;
  const now = view.weights[i];
  const wanted = {
    ArrowUp: now + step,
    ArrowRight: now + step,
    ArrowDown: now - step,
    ArrowLeft: now - step,
    PageUp: now + LEAP,
    PageDown: now - LEAP,
    Home: 0,
    End: 1,
  }[event.key];
  if (wanted === undefined || event.altKey || event.ctrlKey || event.metaKey) return;
  event.preventDefault();
  move(view, i, wanted, view.weights);
  later(view);
};

// The word chosen last, with buttons for what a finger is too coarse for, and the way back.
const fine = (view) => {
  const { text } = view.data;
  const button = (label, name, act) => {
    const made = element("button", "", label);
    made.type = "button";
    if (name) made.setAttribute("aria-label", name);
    made.addEventListener("click", act);
    return made;
  };
  const nudge = (step) => () => {
    if (view.word === null) return;
    move(view, view.word, view.weights[view.word] + step, view.weights);
    later(view);
  };
  const put = (weights) => () => {
    view.weights = [...weights()];
    draw(view);
    tell(view);
  };
  const shown = { root: element("div", "fine"), word: element("bdi", "chosen"), value: element("b") };
  shown.less = button("−", text.less, nudge(-FINE * 2));
  shown.more = button("+", text.more, nudge(FINE * 2));
  shown.back = button(text.back, "", put(() => view.data.original));
  shown.mine = button(text.mine, "", put(() => view.best ?? view.weights));
  shown.word.setAttribute("translate", "no");
  shown.hand = within(element("div", "hand"), shown.word, shown.less, shown.value, shown.more);
  shown.root.append(shown.hand, within(element("div", "ways"), shown.back, shown.mine));
  for (const made of [shown.less, shown.more]) made.addEventListener("blur", () => flush(view));
  return shown;
};

// What happens

const move = (view, word, weight, from) => {
  view.weights = turned(view.data, from, word, Math.min(Math.max(weight, 0), 1));
  choose(view, word);
  const { tvd, jsd } = reading(view.data, view.weights);
  const best = view.best ? divergence(view.best, view.data.original) : 0;
  if (tvd <= view.data.epsilon + SLACK && jsd > best) view.best = view.weights;
  draw(view);
};

const choose = (view, word) => {
  view.word = word;
  drawFine(view);
};

const later = (view) => {
  clearTimeout(view.timer);
  view.timer = setTimeout(() => tell(view), WAIT);
};

const flush = (view) => view.timer && tell(view);

const tell = (view) => {
  clearTimeout(view.timer);
  view.timer = 0;
  view.send();
};

// How it looks

const drawFine = (view) => {
  const { fine: shown, word, data } = view;
  shown.hand.hidden = word === null;
  if (word === null) return;
  shown.word.textContent = data.words[word];
  shown.value.textContent = view.weights[word].toFixed(3);
};

const draw = (view) => {
  const { data, weights, shown } = view;
  const { prob, tvd, jsd } = reading(data, weights);
  const label = prob.indexOf(Math.max(...prob));
  const inside = tvd <= data.epsilon + SLACK;
  const said = `${data.labels[label]} ${prob[label].toFixed(2)}`;
  const best = view.best ? divergence(view.best, data.original) : 0;
  shown.prediction.value.textContent = said;
  shown.bar.style.width = `${(100 * prob[label]).toFixed(1)}%`;
  shown.tvd.value.textContent = tvd.toFixed(3);
  shown.state.textContent = inside ? data.text.inside : data.text.outside;
  shown.jsd.value.textContent = jsd.toFixed(2);
  shown.best.value.textContent = best.toFixed(2);
  view.root.classList.toggle("outside", !inside);
  place(view.meter.now, jsd);
  place(view.meter.best, view.best ? best : null);
  place(view.meter.optimum, data.optimum ? data.optimum_jsd : null);
  view.tracks.forEach((track, i) => {
    const [learned, bar, optimum] = track.children;
    rise(learned, data.original[i]);
    rise(bar, weights[i]);
    rise(optimum, data.optimum ? data.optimum[i] : 0);
    optimum.hidden = !(data.optimum?.[i] >= UNSEEN);
    track.setAttribute("aria-valuenow", weights[i].toFixed(3));
    track.setAttribute("aria-valuetext", `${weights[i].toFixed(2)}, ${said}, ${inside ? data.text.inside : data.text.outside}`);
  });
  view.note.textContent = data.optimum ? `${data.text.note} ${data.text.note_goal}` : data.text.note;
  view.fine.mine.disabled = !view.best;
  drawFine(view);
};

const rise = (bar, weight) => bar.style.setProperty("--share", Math.sqrt(Math.max(weight, 0)).toFixed(4));

const place = (mark, jsd) => {
  mark.hidden = jsd === null;
  const share = Math.min(Math.max((jsd ?? 0) / Math.LN2, 0), 1);
  mark.style.setProperty("--at", share.toFixed(4));
  mark.classList.toggle("late", share > 0.5); // the label stays on the longer side
};
