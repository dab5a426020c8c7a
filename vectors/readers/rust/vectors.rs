// SPDX-License-Identifier: Apache-2.0
//! Checks an implementation against the bits of a backend:
//!   rustc --edition 2021 -O vectors.rs; ./vectors quantize.json --backend onnx@1.32-vnni
//! `implement` gets a group and returns the words of each output, the bits of its elements in hexadecimal (any NaN is "nan"), or
//! None for a group that it does not implement.
use std::collections::BTreeMap;
use std::process::ExitCode;

mod json;
mod onnx_quantize;
use json::Json;
use onnx_quantize::implement;

/// The words of each output.
type Words = BTreeMap<String, Vec<String>>;

/// True if `short` is `name`, or its beginning before @ or -.
fn covers(short: &str, name: &str) -> bool {
    name.strip_prefix(short).map_or(false, |rest| rest.is_empty() || rest.starts_with(['@', '-']))
}

/// Returns the words of the row with the longest name that covers the backend; None if that has no bits.
fn expected(group: &Json, backend: &str) -> Option<Words> {
    let mut best = (0, &Json::Null);
    for row in group.get("results").list() {
        for short in row.get("backends").list().iter().map(Json::text) {
            if covers(short, backend) && short.len() > best.0 {
                best = (short.len(), row);
            }
        }
    }
    let words = |bits: &Json| bits.text().split(' ').map(String::from).collect();
    let found: Words = best.1.get("bits").members().iter().map(|(output, bits)| (output.clone(), words(bits))).collect();
    if found.is_empty() { None } else { Some(found) }
}

/// Returns a sentence about the first element that differs.
fn difference(group: &Json, wanted: &Words, found: &Words) -> Option<String> {
    let (id, about) = (group.get("id").text(), group.get("about").text());
    for (output, words) in wanted {
        let got = found.get(output).cloned().unwrap_or_default();
        if got.len() != words.len() {
            return Some(format!("{id}: {output} has {} elements, wanted {}", got.len(), words.len()));
        }
        if let Some(i) = (0..got.len()).find(|&i| got[i] != words[i]) {
            return Some(format!("{id}: {output}[{i}] is {}, wanted {} ({about})", got[i], words[i]));
        }
    }
    None
}

/// Returns a file that knows the backend, or a sentence.
fn load(path: &str, backend: &str) -> Result<Json, String> {
    let text = std::fs::read_to_string(path).map_err(|why| format!("{path}: {why}"))?;
    let content = json::parse(&text).ok_or(format!("{path}: is no JSON"))?;
    let known = content.get("versions").list().iter().any(|name| name.text() == backend);
    if known { Ok(content) } else { Err(format!("{path}: no backend {backend}")) }
}

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let named = words.iter().position(|word| word == "--backend").and_then(|i| words.get(i + 1));
    let backend = named.map_or("core", String::as_str);
    let content = match load(words.first().map_or("", String::as_str), backend) {
        Ok(content) => content,
        Err(sentence) => {
            eprintln!("{sentence}\nusage: vectors FILE.json [--backend NAME]");
            return ExitCode::from(2);
        }
    };
    let (mut equal, mut differ, mut skipped) = (0, 0, 0);
    for group in content.get("groups").list() {
        if let Some(wanted) = expected(group, backend) {
            match implement(group).map(|found| difference(group, &wanted, &found)) {
                None => skipped += 1,
                Some(None) => equal += 1,
                Some(Some(sentence)) => {
                    differ += 1;
                    println!("{sentence}");
                }
            }
        }
    }
    println!("{backend}: {equal} groups equal, {differ} differ, {skipped} not implemented");
    ExitCode::from(if equal + differ == 0 { 2 } else { u8::from(differ > 0) })
}
