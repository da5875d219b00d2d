/*
 * search.js - the search on the pages. The index is a script (index.js), because browsers
 * do not let a local page fetch data. index.js is loaded when the user first searches. An
 * entry of the index is [kind, name, page, address, words, rank]. Its kind is "text" for
 * a section, "row" for a row of a table, or else the kind of a name in a header. Its rank
 * is 0 for pages that users need, and up to 3 for the history of the project.
 */
"use strict";

/* factors for an entry's score, indexed by the entry's rank */
const WEIGHTS = [1, 0.4, 0.1, 0.02];

/* Lists of synonyms. A word also finds its synonyms, with a lower score. */
const SYNONYMS = [["timeout", "deadline"], ["mutex", "lock"], ["ssl", "tls"], ["dns", "resolver"],
                  ["subprocess", "process"], ["udp", "datagram"]];

/*
 * Normalise a text, so that "Time-out" matches "timeout", and "ebusy" matches "-EBUSY".
 */
function plain(text) {
    return text.toLowerCase().replace(/(\w)-(?=\w)/g, "$1").replace(/^[^\w]+/, "");
}

function wordsOf(query) {
    return query.split(/\s+/).map(plain).filter((word) => word !== "");
}

/* Return the score of one word for an entry; 0 if the word does not occur. */
function worth(word, [kind, name, page, words]) {
    const inName = name.indexOf(word);
    const isSymbol = kind !== "text" && kind !== "row";

    if (isSymbol && name === word)
        return 1000;
    if (isSymbol && name === "coil_" + word)
        return 300;
    if (name === word)
        return kind === "row" ? 140 : 160;
    if (inName === 0)
        return isSymbol ? 300 : kind === "row" ? 90 : name === page ? 170 : 150;
    if (inName > 0)
        return isSymbol ? 100 : 80;
    if (page.includes(word))
        return 30;
    const found = words.split(word).length - 1;
    return found === 0 ? 0 : 5 + Math.min(found, 10);
}

function worthOfAny(word, entry) {
    const others = (SYNONYMS.find((list) => list.includes(word)) || []);
    return Math.max(worth(word, entry), ...others.map((other) => 0.95 * worth(other, entry)));
}

/* Return the entries that contain every word of the query, best first. */
function search(index, query) {
    const words = wordsOf(query);
    if (words.length === 0)
        return [];
    const found = [];
    for (const entry of index) {
        const [kind, name, page, , text, rank] = entry;
        const texts = [kind, plain(name), plain(page), plain(text)];
        const worths = words.map((word) => worthOfAny(word, texts));
        if (worths.every((each) => each > 0)) {
            const phrase = words.length > 1 && plain(name).includes(words.join(" "));
            found.push([WEIGHTS[rank] * worths.reduce((a, b) => a + b) + (phrase ? 200 : 0),
                        entry]);
        }
    }
    found.sort((a, b) => b[0] - a[0] || a[1][1].length - b[1][1].length);
    return found.map(([, entry]) => entry);
}

/* Return the part of the text around the first match. */
function excerpt(words, query) {
    const first = query.toLowerCase().split(/\s+/).filter((word) => word !== "")[0];
    const at = Math.max(0, words.toLowerCase().indexOf(first) - 60);
    const from = at === 0 ? 0 : words.indexOf(" ", at) + 1;
    return (from > 0 ? "… " : "") + words.slice(from, from + 200) +
           (words.length > from + 200 ? " …" : "");
}

function install() {
    const root = document.currentScript.dataset.root;
    const input = document.querySelector("input[name=q]");
    const results = document.getElementById("results");
    const article = document.querySelector("article");
    let index = null;

    window.coilIndex = (entries) => {
        index = entries;
        show();
    };

    function load() {
        if (index !== null || document.getElementById("index"))
            return;
        const script = document.createElement("script");
        script.id = "index";
        script.src = root + "index.js";
        document.head.append(script);
    }

    function item([kind, name, page, address, words]) {
        const link = document.createElement("a");
        const where = document.createElement("span");
        const text = document.createElement("p");
        const entry = document.createElement("li");
        link.href = root + address;
        link.textContent = kind === "function" ? name + "()" : name;
        where.textContent = kind === "text" || kind === "row" ? page : kind + " of " + page;
        text.textContent = excerpt(words, input.value);
        entry.append(link, " ", where, text);
        return entry;
    }

    function show() {
        const query = input.value.trim();
        article.hidden = query !== "";
        results.hidden = query === "";
        if (query === "" || index === null)
            return;
        const found = search(index, query);
        const title = document.createElement("h1");
        const list = document.createElement("ol");
        title.textContent = found.length === 1 ? "1 place" : found.length + " places";
        list.append(...found.slice(0, 60).map(item));
        results.replaceChildren(title, list);
    }

    input.addEventListener("focus", load);
    input.addEventListener("input", show);
    input.form.addEventListener("submit", (event) => {
        const first = results.querySelector("a");
        event.preventDefault();
        if (first !== null)
            location.href = first.href;
    });
    /*
     * Close the list of results after a click, because the result may be on the current
     * page.
     */
    results.addEventListener("click", (event) => {
        if (event.target.closest("a") !== null) {
            input.value = "";
            show();
        }
    });
    document.addEventListener("keydown", (event) => {
        if (event.key === "/" && document.activeElement !== input) {
            event.preventDefault();
            input.focus();
        } else if (event.key === "Escape" && document.activeElement === input) {
            input.value = "";
            show();
            input.blur();
        }
    });

    /*
     * Open the list of pages on a wide screen. Without this script, the reader has to
     * open it.
     */
    const all = document.querySelector("details.all");
    const wide = window.matchMedia("(min-width: 60rem)");
    all.open = wide.matches;
    wide.addEventListener("change", () => { all.open = wide.matches; });
    const here = document.querySelector(".side [aria-current]");
    if (wide.matches && here !== null) {
        const side = document.querySelector(".side");
        side.scrollTop = here.offsetTop - side.offsetTop - side.clientHeight / 2;
    }

    const query = new URLSearchParams(location.search).get("q");
    if (query !== null) {
        input.value = query;
        load();
        show();
    }
}

if (typeof module !== "undefined")
    module.exports = { search, excerpt };
else
    install();
